import Foundation
import FuzzSupport
import Sync
import SyncCalls
import SyncCore
import SyncSQLite

/// A store in memory and one sync into it. All instances share one database, which is emptied before each use, because
/// creating its tables would take most of the time.
struct FuzzStore {
    typealias Outcome = Result<SyncResult, SyncError>

    private static let rows = """
        [{"id":1,"name":"a","group":{"title":"g","size":1},"children":[{"id":2,"parts":[{"label":"p"},{}]},{"id":4}],
          "meta":{"labels":[{"uid":"6f9619ff-8b86-d011-b42d-00c04fc964ff"}]},"friends":[{"id":2}],
          "badge":{"number":1.1},"box":{"sealed_at":"2024-01-01"}},{"id":3,"count":3}]
        """

    private static let stack = wait { try DataStack.inMemory(FuzzModel.model) }

    private let stack = Self.stack
    private let entity: String
    private let operations: SyncOperations
    private var options: SyncOptions
    private let data: Data
    private let chunks: [[UInt8]]
    private let value: JSONValue?

    init(for call: FuzzCall) {
        let isIntoRows = call.isIntoRows
        wait {
            try Self.stack.deleteAllRows()
            if isIntoRows { try await Sync.changes(Data(Self.rows.utf8), inEntity: "Item", stack: Self.stack) }
        }
        (entity, operations, options) = (call.entity, call.operations, call.options)
        data = Data(call.payload)
        value = call.value
        let cuts = PayloadCuts(call.payload)
        options.chunkSize = cuts.chunkSize
        chunks = cuts.chunks.map { Array($0) }
    }

    // MARK: Syncs

    func sync() -> Outcome {
        outcome {
            try await Sync.changes(data, inEntity: entity, stack: stack, operations: operations, options: options)
        }
    }

    func plan() -> Outcome {
        outcome { try await Sync.plan(data, inEntity: entity, stack: stack, operations: operations, options: options) }
    }

    func syncPieces() -> Outcome {
        let stream = AsyncStream { stream in
            for chunk in chunks { stream.yield(chunk) }
            stream.finish()
        }
        return outcome {
            try await Sync.changes(
                .buffers(stream), inEntity: entity, stack: stack, operations: operations, options: options)
        }
    }

    /// Syncs the payload as a value. Returns nil if it is no JSON.
    func syncValue() -> Outcome? {
        value.map { value in
            outcome {
                try await Sync.changes(value, inEntity: entity, stack: stack, operations: operations, options: options)
            }
        }
    }

    private func outcome(_ body: @escaping @Sendable () async throws -> SyncResult) -> Outcome {
        wait {
            do {
                return .success(try await body())
            } catch var error as SyncError {
                // The detected format depends on the bytes so far.
                error.detectedFormat = nil
                return .failure(error)
            }
        }
    }

    // MARK: Rows

    var contents: StoreDump { wait { try await stack.contents() } }
    /// The number of rows written since the store was opened.
    var changes: Int { wait { try await stack.totalChanges() } }
    var damage: [String] { wait { try await stack.damage() } }
}
