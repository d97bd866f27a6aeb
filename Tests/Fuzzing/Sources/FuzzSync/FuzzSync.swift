import Dispatch
import Foundation
import FuzzSupport
import Sync

/// Whole syncs into a store in memory: bytes and values lead to the same rows, a dry run tells what will happen, and
/// a second sync finds nothing to do.
@main
enum FuzzSync {
    static func main() {
        fuzz { start, count in
            FuzzSync.check(FuzzCall(UnsafeBufferPointer(start: start, count: count)))
            return 0
        }
    }

    static func check(_ call: FuzzCall) {
        let stack = store(for: call)
        let before = contents(of: stack)
        let (entity, operations, options) = (call.entity, call.operations, call.options)
        let data = Data(call.payload)

        let planned = outcome {
            try await Sync.plan(data, inEntity: entity, stack: stack, operations: operations, options: options)
        }
        require(contents(of: stack) == before, "the dry run wrote something")
        let done = outcome {
            try await Sync.changes(data, inEntity: entity, stack: stack, operations: operations, options: options)
        }
        require(planned == done, "planned \(planned), done \(done)")
        let after = contents(of: stack)
        if case .failure(let error) = done {
            require(after == before, "a refused payload changed something: \(error)")
            if !isOfStore(error) { error.requirePlace(in: call.payload) }
        }
        require(wait { try await stack.damage() } == [], "the store is damaged")

        if let value = call.value {
            let other = store(for: call)
            let same = outcome {
                try await Sync.changes(value, inEntity: entity, stack: other, operations: operations, options: options)
            }
            requireSame(done, same)
            require(contents(of: other) == after, "as values: \(contents(of: other).differences(from: after))")
        }
        guard case .success = done else { return }
        let again = outcome {
            try await Sync.changes(data, inEntity: entity, stack: stack, operations: operations, options: options)
        }
        guard case .success(let second) = again else { fail("the second time: \(again)") }
        require(second.isEmpty, "a second sync of the same payload: \(second)")
        require(contents(of: stack) == after, "a second sync: \(contents(of: stack).differences(from: after))")
    }

    // MARK: Stores

    private static let rows = """
        [{"id":1,"name":"a","group":{"title":"g","size":1},"children":[{"id":2,"parts":[{"label":"p"},{}]},{"id":4}],
          "meta":{"labels":[{"uid":"6f9619ff-8b86-d011-b42d-00c04fc964ff"}]},"friends":[{"id":2}],
          "badge":{"number":1.1},"box":{"sealed_at":"2024-01-01"}},{"id":3,"count":3}]
        """

    private static func store(for call: FuzzCall) -> DataStack {
        wait {
            let stack = try DataStack.inMemory(FuzzModel.model)
            guard call.isIntoRows else { return stack }
            try await Sync.changes(Data(rows.utf8), inEntity: "Item", stack: stack)
            return stack
        }
    }

    private static func contents(of stack: DataStack) -> StoreContents { wait { try await stack.contents() } }

    /// Refusals for what the rows are, rather than for what a place of the payload is.
    private static func isOfStore(_ error: SyncError) -> Bool { error.code == .deletionDenied }

    private static func requireSame(_ ofBytes: Result<SyncResult, SyncError>, _ ofValues: Result<SyncResult, SyncError>)
    {
        switch (ofBytes, ofValues) {
        case (.success, .success): require(ofBytes == ofValues, "as values: \(ofValues), not \(ofBytes)")
        case (.failure(let left), .failure(let right)): require(left.code == right.code, "\(left) <> \(right)")
        default: fail("as values: \(ofValues), not \(ofBytes)")
        }
    }

    // MARK: Waiting

    private static func outcome(
        _ body: @escaping @Sendable () async throws -> SyncResult
    ) -> Result<SyncResult, SyncError> {
        wait {
            do {
                return .success(try await body())
            } catch let error as SyncError {
                return .failure(error)
            }
        }
    }

    /// libFuzzer's targets are not async.
    private static func wait<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) -> Value {
        let answer = Answer<Value>()
        Task {
            do {
                answer.value = try await body()
            } catch {
                fail("\(error)")
            }
            answer.isThere.signal()
        }
        answer.isThere.wait()
        guard let value = answer.value else { fail("no answer") }
        return value
    }

    /// Unchecked: it is read after the one that writes it has signalled.
    private final class Answer<Value: Sendable>: @unchecked Sendable {
        let isThere = DispatchSemaphore(value: 0)
        var value: Value?
    }
}
