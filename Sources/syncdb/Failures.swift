import Sync
import SyncTools

extension SyncError {
    /// Where the lists are, in the words of the command line: a key path is `--key` there.
    var keyOptions: [String] {
        keyPaths.filter { $0.allSatisfy { !$0.isEmpty && !$0.contains(".") } }
            .map { "--key \(ShellWord.quoted($0.joined(separator: "."), keeping: "="))" }
    }

    /// Names the file in errors about its JSON.
    static func naming<Result>(_ file: String, in body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let error as SyncError where error.isAboutPayload {
            throw error.naming(file)
        }
    }

    /// Names the database in errors about it.
    func namingDatabase(_ path: String?) -> SyncError {
        guard let path else { return self }
        switch code {
        case .modelMismatch, .unreadableStore, .storeFailure, .storeBusy, .storeReadOnly: return naming(path)
        default: return self
        }
    }

    /// Whether the JSON is at fault, not what is asked of it.
    private var isAboutPayload: Bool {
        switch code {
        case .malformedJSON, .invalidUTF8, .nestingTooDeep, .recordTooLarge, .recordExpected, .keyPathNotFound,
            .noRecords, .contradictingRecords, .valueDoesNotFit, .serviceErrors:
            true
        default: false
        }
    }
}
