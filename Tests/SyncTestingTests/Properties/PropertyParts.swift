import Foundation
import Sync
import SyncCore

@testable import SyncTesting

/// Runs the steps of a case in parts, which must have the result of the whole.
struct PropertyParts {
    /// The parts of a payload.
    enum Size: Sendable, CustomStringConvertible {
        case pages(records: Int)
        case pieces(bytes: Int)

        var description: String {
            switch self {
            case .pages(let records): "in pages of \(records)"
            case .pieces(let bytes): "in pieces of \(bytes) bytes"
            }
        }
    }

    private let size: Size
    private let stack: any ScenarioStore
    private var isOver = false

    /// Nil if the case is not run in parts: a part does not know the values that a later part has for a row.
    init?(_ propertyCase: PropertyCase, _ stores: any ScenarioStoreFactory) throws {
        guard let size = propertyCase.parts, !propertyCase.model.canRejectRecords else { return nil }
        self.size = size
        stack = try stores.open(propertyCase.model)
    }

    /// Returns the differences between the parts of a step and the whole; nil if there are none. After a step that
    /// failed in pages it is nil too, since the earlier pages stay.
    mutating func failure(
        of step: PropertyCase.Step, _ expected: Result<SyncResult, any Error>, _ reference: ReferenceStore
    ) async throws -> String? {
        if isOver || step.parent != nil && step.repeatsRecords || step.listsOnlyUpdate { isOver = true }
        guard !isOver else { return nil }
        do {
            let results =
                switch size {
                case .pages(let records): try await sync(step, inPagesOf: records)
                case .pieces(let bytes): [try await sync(step, inPiecesOf: bytes)]
                }
            // A part rejects a row whose key contains the key of a row in a later part.
            let refused = results.reduce(0) { $0 + $1.withoutKeyPart }
            if let whole = try? expected.get(), refused > whole.withoutKeyPart {
                isOver = true
                return nil
            }
        } catch let error as SyncError {
            if case .pages = size { isOver = true }
            // Only the last part knows that no record was readable; the first part knows that the parent is missing.
            let isSame = error.code == expected.error?.code
            return isSame || error.code == .parentNotFound && expected.error?.code == .noRecords ? nil : "\(error)"
        }
        if let error = expected.error { return "expected \(error)" }
        let differences = try await ReferenceComparison.differences(reference, stack)
        return differences.isEmpty ? nil : differences.joined(separator: "; ")
    }

    private func sync(_ step: PropertyCase.Step, inPagesOf size: Int) async throws -> [SyncResult] {
        let run = PagedImport()
        let pages = stride(from: 0, to: max(step.payload.count, 1), by: size).map { start in
            Array(step.payload[start..<min(start + size, step.payload.count)])
        }
        // A page without a readable record fails, even if the whole payload does not.
        let names = try stack.model.primaryKeyParts(of: step.entity).map(\.local)
            .filter { $0 != "owner" || step.parent == nil }
        let entity = try stack.model.compiled.entity(named: step.entity)
        let kinds = ReferenceStore(model: stack.model)
        func isReadable(_ record: JSONValue) -> Bool {
            record.hasKey(names) && kinds.entity(of: record, as: entity) != nil
        }
        guard step.shape == .list, pages.allSatisfy({ $0.isEmpty || $0.contains(where: isReadable) }) else {
            return [try await sync(step, inPiecesOf: .max)]
        }
        var options = step.options
        options.payloadKind = .page(of: run)
        var results: [SyncResult] = []
        for page in pages {
            results.append(
                try await Sync.changes(
                    try PropertyLayout(model: stack.model).records(page, of: step), inEntity: step.entity, stack: stack,
                    predicate: step.condition(), parent: step.parent,
                    operations: step.operations,
                    options: options))
        }
        results.append(try await run.finish())
        return results
    }

    private func sync(_ step: PropertyCase.Step, inPiecesOf size: Int) async throws -> SyncResult {
        let layout = PropertyLayout(model: stack.model)
        var text = step.shape == .lines ? try layout.lines(of: step) : []
        if step.shape != .lines { JSONText.append(try layout.root(of: step), to: &text) }
        let payload = text
        let chunks = AsyncStream<[UInt8]> { stream in
            stream.yield(payload)
            stream.finish()
        }
        var options = step.options
        if step.shape == .lines { options.format = .ndjson }
        options.chunkSize = size
        return try await Sync.changes(
            .buffers(chunks), inEntity: step.entity, stack: stack, predicate: step.condition(), parent: step.parent,
            operations: step.operations, options: options)
    }
}

extension PropertyCase.Step {
    func condition() throws -> RowPredicate? { try predicate.map { try RowPredicate(parsing: $0) } }

    /// Whether lists only apply to stored rows. A part does not know the rows that a later part inserts.
    fileprivate var listsOnlyUpdate: Bool {
        operations.contains(.updateRelationships) && !operations.contains(.insertRelationships)
    }

    /// Whether a row has several records. Its position in the list of a parent comes from its last page.
    fileprivate var repeatsRecords: Bool {
        let keys = payload.compactMap { record -> String? in
            guard case .object(let members) = record else { return nil }
            return members.first { $0.key == "id" }.map { "\($0.value)".filter(\.isNumber) }
        }
        return Set(keys).count < keys.count
    }
}

extension SyncModel {
    /// Whether a new row may lack a required value.
    fileprivate var canRejectRecords: Bool {
        entities.flatMap(\.attributes).contains { !$0.isOptional && $0.defaultValue == nil }
    }
}

extension JSONValue {
    /// Returns whether a generated record has a readable key, given the names of its parts.
    fileprivate func hasKey(_ names: [String]) -> Bool {
        guard case .object(let members) = self else { return false }
        return names.allSatisfy { name in
            guard let part = members.first(where: { $0.key == name }) else { return false }
            guard case .array = part.value else { return part.value != .null }
            return name == "owner"
        }
    }
}

extension SyncResult {
    /// The number of records that were rejected because a part of their key is not stored.
    fileprivate var withoutKeyPart: Int { diagnostics.count { $0.kind == .missingKeyPart } }
}

extension Result {
    fileprivate var error: SyncError? {
        guard case .failure(let error) = self else { return nil }
        return error as? SyncError
    }
}
