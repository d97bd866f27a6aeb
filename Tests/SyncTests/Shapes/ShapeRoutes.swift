import Foundation
import Sync
import Testing

/// Syncs a document on every route, each into a separate store, and expects the same rows and the same results.
struct ShapeRoutes {
    let model: SyncModel
    let entity: String
    var entities: [String: String] = [:]
    var options = SyncOptions()

    /// - Parameter before: A document of the same format that is synced first.
    /// - Returns: The result of the sync of bytes, and its store.
    @discardableResult
    func sync(_ text: String, after before: String? = nil) async throws -> (result: SyncResult, stack: DataStack) {
        let plain = try await outcome(before) { try await changes(Data(text.utf8), $0, options) }
        let value = try JSONValue(parsing: Data(text.utf8))
        let values = try await outcome(before) { try await changes(value, $0, options) }
        expectSame(values, plain, "values")
        for size in [1, 30, 400] {
            for commitsEachChunk in [false, true] {
                var options = options
                options.chunkSize = size
                options.commitsEachChunk = commitsEachChunk
                let pieces = try await outcome(before) { try await chunks(Data(text.utf8), $0, options) }
                #expect(
                    try await dump(pieces.stack) == dump(plain.stack),
                    "pieces of \(size), each committed: \(commitsEachChunk)")
                #expect(pieces.result.nextPage == plain.result.nextPage, "pieces of \(size)")
                #expect(
                    Set(pieces.result.diagnostics.map(\.path)) == Set(plain.result.diagnostics.map(\.path)),
                    "pieces of \(size)")
            }
        }
        var hooked = options
        hooked.willInsert = { $0.record }
        let hook = try await outcome(before) { [hooked] in try await changes(Data(text.utf8), $0, hooked) }
        expectSame(hook, plain, "a hook")
        let again = try await changes(Data(text.utf8), plain.stack, options)
        #expect(again.isEmpty, "a second sync changes \(again.entities)")
        return plain
    }

    private func changes(_ json: Data, _ stack: DataStack, _ options: SyncOptions) async throws -> SyncResult {
        entities.isEmpty
            ? try await Sync.changes(json, inEntity: entity, stack: stack, options: options)
            : try await Sync.changes(json, inEntities: entities, stack: stack, options: options)
    }

    private func changes(_ json: JSONValue, _ stack: DataStack, _ options: SyncOptions) async throws -> SyncResult {
        entities.isEmpty
            ? try await Sync.changes(json, inEntity: entity, stack: stack, options: options)
            : try await Sync.changes(json, inEntities: entities, stack: stack, options: options)
    }

    private func chunks(_ json: Data, _ stack: DataStack, _ options: SyncOptions) async throws -> SyncResult {
        let chunks = AsyncStream<Data> { stream in
            for start in stride(from: 0, to: json.count, by: 7) { stream.yield(json.dropFirst(start).prefix(7)) }
            stream.finish()
        }
        return entities.isEmpty
            ? try await Sync.changes(.buffers(chunks), inEntity: entity, stack: stack, options: options)
            : try await Sync.changes(.buffers(chunks), inEntities: entities, stack: stack, options: options)
    }

    private func outcome(
        _ before: String?, _ sync: (DataStack) async throws -> SyncResult
    ) async throws -> (result: SyncResult, stack: DataStack) {
        let stack = try DataStack.inMemory(model)
        if let before { _ = try await changes(Data(before.utf8), stack, options) }
        return (try await sync(stack), stack)
    }

    private func expectSame(
        _ one: (result: SyncResult, stack: DataStack), _ other: (result: SyncResult, stack: DataStack), _ what: Comment
    ) {
        #expect(one.result == other.result, what)
        #expect(throws: Never.self) { try Self.expectSameRows(one.stack, other.stack, model, what) }
    }

    private static func expectSameRows(
        _ one: DataStack, _ other: DataStack, _ model: SyncModel, _ what: Comment
    ) throws {
        for entity in model.entities where !entity.isAbstract {
            let options = ExportOptions()
            #expect(
                try one.export(entity.name, options: options) == other.export(entity.name, options: options), what)
        }
    }

    /// Returns the export of every entity.
    private func dump(_ stack: DataStack) async throws -> [[JSONValue]] {
        var rows: [[JSONValue]] = []
        for entity in model.entities where !entity.isAbstract { rows.append(try await stack.export(entity.name)) }
        return rows
    }
}
