import Foundation
import Sync

extension SyncError {
    /// The option that leads out of it, where there is one.
    var hint: VisibleText? {
        switch code {
        case .deletionGuard:
            "if the JSON is whole, --max-delete allows more: a number of rows, a part as in 75%, or 100%; if it is only what changed, --delta says so"
        case .modelMismatch where !problems.isEmpty: "--allow-loss lets that go"
        case .storeBusy: "--busy-timeout 60s waits longer"
        default: nil
        }
    }

    /// Names the file in errors about its JSON, and the option that reads it, where it is JSON of another kind.
    static func naming<Result>(
        _ file: String, hintingAt data: @autoclosure () -> Data?, _ form: SyncOptions.Form,
        in body: () async throws -> Result
    ) async throws -> Result {
        do {
            return try await naming(file, in: body)
        } catch let error as SyncError where error.code == .malformedJSON {
            guard form == .json, let data = data(), JSONLines.areIn(data) else { throw error }
            throw RemarkedError(error: error, remark: JSONLines.remark)
        }
    }
}

/// Telling records on lines of their own from one JSON text.
enum JSONLines {
    /// What is looked at, in bytes.
    private static let glance = 1 << 18

    /// Runs what reads samples, and says which option reads them if they are records on lines of their own.
    static func hinting<Result>(at samples: [InferenceSample], _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as SyncError where error.code == .malformedJSON {
            guard samples.contains(where: { $0.form == .json && areIn($0.json) }) else { throw error }
            throw RemarkedError(error: error, remark: Self.remark)
        }
    }

    static let remark: VisibleText = "hint: each line is JSON by itself: --ndjson reads that"

    /// Whether the first two lines that are not empty are objects.
    static func areIn(_ data: Data) -> Bool {
        let start = data.prefix(glance)
        let lines = start.split(separator: UInt8.newline).filter {
            !$0.allSatisfy { $0 == .blank || $0 == .carriageReturn }
        }
        // The last one may be cut off.
        guard lines.count > 2 || (lines.count == 2 && start.count == data.count) else { return false }
        return lines.prefix(2).allSatisfy { line in
            guard case .object = try? JSONValue(parsing: String(decoding: line, as: UTF8.self)) else { return false }
            return true
        }
    }
}
