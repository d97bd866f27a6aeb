import Foundation
import GRDB
import Sync

/// Imports the pages of a feed as one snapshot.
struct FeedImport: Sendable {
    /// Fetches a page by its number, from 1; nil after the last page.
    let fetch: @Sendable (_ page: Int) async throws -> Data?

    func run(into stack: DataStack) async throws -> SyncResult {
        let pages = PagedImport()
        var options = SyncOptions(
            payloadKind: .page(of: pages), deletionLimit: .fraction(0.3), resultDetail: .counts)
        options.keyPath = "items"
        var number = 1
        while let page = try await fetch(number) {
            let result = try await Sync.changes(page, inEntity: "Product", stack: stack, options: options)
            if let record = result.diagnostics.first(where: { $0.kind == .missingPrimaryKey }) {
                throw FeedFailure.recordWithoutKey(page: number, path: record.path)
            }
            number += 1
        }
        return try await pages.finish()
    }
}

/// Applies the changed records and the deleted IDs of a feed. After a failure, repeat the call.
func applyDelta(_ changed: Data, deleting ids: [Int], to stack: DataStack) async throws -> [SyncResult] {
    let changes = try await Sync.changes(
        changed, inEntity: "Product", stack: stack, options: SyncOptions(payloadKind: .delta))
    // An empty snapshot of these rows.
    let deletions = try await Sync.changes(
        [] as JSONValue, inEntity: "Product", stack: stack, predicate: .where("id IN %@", ids), operations: .delete,
        options: SyncOptions(deletionLimit: .rows(100)))
    return [changes, deletions]
}

/// A failure of a feed that no error of Sync represents.
enum FeedFailure: Error {
    case status(Int)
    case recordWithoutKey(page: Int, path: String)
}

/// What a server does after a failed import.
enum NextStep { case retryAtOnce, retryLater, callPerson, stop }

/// Returns what to do after an error of an import.
func nextStep(after error: any Error) -> NextStep {
    switch error {
    case is CancellationError: return .stop
    case let error as URLError: return error.code == .cancelled ? .stop : .retryLater
    case FeedFailure.status(let status): return status == 429 || status >= 500 ? .retryLater : .callPerson
    case let error as SyncError:
        switch error.code {
        case .malformedJSON, .invalidUTF8: return .retryAtOnce
        case .noRecords, .recordExpected, .keyPathNotFound, .errorDocument, .modelMismatch: return .retryLater
        default: return error.isTransient ? .retryLater : .callPerson
        }
    case let error as DatabaseError: return error.resultCode == .SQLITE_BUSY ? .retryLater : .callPerson
    default: return .callPerson
    }
}
