import Foundation
import MemoryStore
import Sync
import SyncCore
import Testing

/// Syncs whose sessions are like those of a database over a network (``CheckedSession``).
@Suite("Syncs with the session of a database over a network")
struct CheckedSessionTests {
    /// Owners with tags, a badge, and notes and keyless boxes, which are deleted with them. All lists are ordered.
    private static let schema = """
        { "entities": {
          "Owner": { "attributes": { "id": "integer", "name": "string" },
                     "relationships": {
                       "notes": { "entity": "Note", "many": true, "ordered": true, "inverse": "owner",
                                  "deleteRule": "cascade" },
                       "boxes": { "entity": "Box", "many": true, "ordered": true, "inverse": "owner",
                                  "deleteRule": "cascade" },
                       "tags": { "entity": "Tag", "many": true, "ordered": true, "inverse": "owners" },
                       "badge": { "entity": "Badge", "inverse": "owner", "deleteRule": "nullify" } } },
          "Note": { "attributes": { "id": "integer", "text": "string" },
                    "relationships": { "owner": { "entity": "Owner", "inverse": "notes" } } },
          "Box": { "attributes": { "size": "integer" },
                   "relationships": { "owner": { "entity": "Owner", "inverse": "boxes" } } },
          "Badge": { "attributes": { "id": "integer" },
                     "relationships": { "owner": { "entity": "Owner", "inverse": "badge" } } },
          "Tag": { "attributes": { "id": "string" },
                   "relationships": { "owners": { "entity": "Owner", "many": true, "inverse": "tags" } } } } }
        """

    /// One call of a sync.
    private struct Step {
        enum Payload {
            case snapshot
            case delta
            /// A page of the paged import of the test.
            case page
            /// The end of the paged import of the test.
            case end
        }

        var entity: String
        var json: String
        var payload = Payload.snapshot
        var predicate: String?
    }

    /// The result of a step, and the operations and the contents of the store after it.
    private struct Outcome {
        let result: SyncResult
        let operations: [String]
        let contents: StoreDump
    }

    private let model: SyncModel

    init() throws { model = try SyncModel(schemaData: Data(Self.schema.utf8)) }

    // MARK: Steps

    private func list(_ ids: some Sequence<Int>, _ record: (Int) -> String) -> String {
        "[" + ids.map(record).joined(separator: ",") + "]"
    }

    private func owner(_ id: Int) -> String {
        """
        { "id": \(id), "name": "o\(id)", "notes": [{ "id": \(2 * id) }, { "id": \(2 * id + 1) }],
          "boxes": [{ "size": \(id) }, { "size": 2 }], "tag_ids": ["a", "b\(id % 2)"], "badge": { "id": \(id) } }
        """
    }

    /// Returns the same steps for any number of rows.
    private func steps(_ count: Int) -> [Step] {
        let changed = list((1...count).reversed()) { id in
            """
            { "id": \(id), "name": "changed", "notes": [{ "id": \(2 * id + 1), "text": "t" }], "boxes": [{ "size": 3 }],
              "tag_ids": ["b\(id % 2)", "a"], "badge": null }
            """
        }
        let waiting = list(1...count) {
            #"{ "id": \#(100_000 + $0), "owner_id": \#(10_000 + $0) }, { "id": \#(200_000 + $0), "owner_id": \#($0) }"#
        }
        let half = max(count / 2, 1)
        return [
            Step(entity: "Tag", json: #"[{ "id": "a" }, { "id": "b0" }, { "id": "b1" }]"#),
            Step(entity: "Owner", json: list(1...count, owner)),
            Step(entity: "Owner", json: list(1...count, owner)),
            Step(entity: "Owner", json: changed),
            Step(entity: "Note", json: waiting, payload: .delta),
            Step(
                entity: "Owner", json: list(1...count) { #"{ "id": \#(10_000 + $0), "badge": { "id": \#($0) } }"# },
                payload: .delta),
            Step(entity: "Owner", json: list(1...half, owner), payload: .page),
            Step(
                entity: "Owner", json: list(1...count) { #"{ "id": \#($0), "badge_id": \#(50_000 + $0) }"# },
                payload: .page),
            Step(entity: "Owner", json: "", payload: .end),
            Step(entity: "Owner", json: "[]", predicate: "id <= \(half)"),
            Step(entity: "Owner", json: "[]"),
        ]
    }

    /// Runs the steps in a new store.
    ///
    /// - Parameters:
    ///   - last: The index of the last step to run; nil for all.
    ///   - operation: The index of the operation at which the last step fails once; nil for none.
    private func run(
        _ steps: [Step], _ conditions: SessionConditions = SessionConditions(), upTo last: Int? = nil,
        failingAt operation: Int? = nil
    ) async throws -> [Outcome] {
        let stack = try MemoryStack(model) { CheckedSession($0, conditions) }
        let pages = PagedImport()
        let last = last ?? steps.count - 1
        var outcomes: [Outcome] = []
        for (index, step) in steps[...last].enumerated() {
            conditions.removeOperations()
            if let operation, index == last { conditions.fail(at: operation) }
            let result = try await run(step, stack, pages)
            outcomes.append(
                Outcome(result: result, operations: conditions.operations, contents: try await stack.dump()))
        }
        return outcomes
    }

    private func run(_ step: Step, _ stack: MemoryStack, _ pages: PagedImport) async throws -> SyncResult {
        var options = SyncOptions(deletionLimit: nil)
        options.resultDetail = .values
        switch step.payload {
        case .snapshot: options.payloadKind = .snapshot
        case .delta: options.payloadKind = .delta
        case .page:
            options.payloadKind = .page(of: pages)
            options.rowFlagLimit = 0
        case .end: return try await pages.finish()
        }
        return try await Sync.changes(
            Data(step.json.utf8), inEntity: step.entity, stack: stack,
            predicate: step.predicate.map { try RowPredicate(parsing: $0) }, options: options)
    }

    // MARK: Tests

    @Test("A sync uses the same operations for 10 rows and for 1,000")
    func countsOperations() async throws {
        let few = try await run(steps(10))
        let many = try await run(steps(1000))
        for (index, outcomes) in zip(few, many).enumerated() {
            #expect(outcomes.0.operations == outcomes.1.operations, "step \(index)")
        }
        #expect(many[1].result.entities["Note"]?.insertedCount == 2000)
        #expect(many[10].result.entities["Owner"]?.deletedCount == 500)
    }

    @Test("The order of answers without a promised order changes nothing", arguments: [1, 2, 3, 4, 5] as [UInt64])
    func shufflesAnswers(seed: UInt64) async throws {
        let plain = try await run(steps(10))
        let shuffled = try await run(steps(10), SessionConditions(shuffling: seed))
        for (index, outcomes) in zip(plain, shuffled).enumerated() {
            #expect(outcomes.0.result == outcomes.1.result, "step \(index)")
            #expect(outcomes.1.contents.differences(from: outcomes.0.contents) == [], "step \(index)")
            #expect(outcomes.0.operations == outcomes.1.operations, "step \(index)")
        }
    }

    @Test("A transaction that fails at any operation and is repeated has the same result", arguments: 0..<11)
    func repeatsTransactions(step: Int) async throws {
        let plain = try await run(steps(3), upTo: step)
        #expect(plain[step].operations.count > 5)
        for operation in plain[step].operations.indices {
            let conditions = SessionConditions()
            let repeated = try await run(steps(3), conditions, upTo: step, failingAt: operation)
            let name = "operation \(operation), \(plain[step].operations[operation])"
            #expect(!conditions.isFailurePending, "\(name)")
            #expect(repeated[step].operations.count == plain[step].operations.count + operation + 1, "\(name)")
            #expect(repeated[step].result == plain[step].result, "\(name)")
            #expect(repeated[step].contents.differences(from: plain[step].contents) == [], "\(name)")
        }
    }

    @Test("A sync in chunks that fails at any operation writes nothing: its chunks cannot be read again")
    func doesNotRepeatChunks() async throws {
        let conditions = SessionConditions()
        _ = try await syncInChunks(filledStack(conditions))
        let count = conditions.operations.count
        #expect(count > 30)
        let stack = try await filledStack(conditions)
        let before = try await stack.dump()
        for operation in 0..<count {
            conditions.removeOperations()
            conditions.fail(at: operation)
            await #expect(throws: MemoryWriter.SerializationFailure.self, "operation \(operation)") {
                try await syncInChunks(stack)
            }
            #expect(conditions.operations.count == operation + 1)
            #expect(try await stack.dump().differences(from: before) == [], "operation \(operation)")
        }
    }

    /// Returns a store with rows, before whose next operation none is counted.
    private func filledStack(_ conditions: SessionConditions) async throws -> MemoryStack {
        let stack = try MemoryStack(model) { CheckedSession($0, conditions) }
        _ = try await run(Step(entity: "Owner", json: list(1...3, owner)), stack, PagedImport())
        conditions.removeOperations()
        return stack
    }

    private func syncInChunks(_ stack: MemoryStack) async throws -> SyncResult {
        let payload = Data(list(2...4, owner).utf8)
        let chunks = AsyncStream<Data> { stream in
            stream.yield(payload)
            stream.finish()
        }
        var options = SyncOptions(deletionLimit: nil)
        options.chunkSize = 10
        return try await Sync.changes(.buffers(chunks), inEntity: "Owner", stack: stack, options: options)
    }
}
