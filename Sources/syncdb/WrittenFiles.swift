import Foundation
import Sync

/// The files of an import of several that are written, each in a transaction of its own.
final class WrittenFiles: Sendable {
    private let names = Locked<[String]>([])

    func add(_ name: String) { names.withLock { $0.append(name) } }

    var isEmpty: Bool { names.value.isEmpty }

    /// Runs the import; if it fails after some were written, the error says which.
    func remarking<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch {
            let names = self.names.value
            guard !names.isEmpty else { throw error }
            let list = ShortList(names.map { "\($0)" as VisibleText }).text(between: ", ")
            throw RemarkedError(
                error: error,
                remark:
                    "note: \(list) \(names.count == 1 ? "was" : "were") written before that; nothing was deleted for being left out"
            )
        }
    }
}
