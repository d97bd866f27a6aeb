import Foundation
import Sync
import SyncTools

extension SyncError {
    /// The options `--key` for the lists that the JSON contains. A list has none if a key of its path is empty or has a
    /// dot.
    var keyOptions: [String] {
        var seen: Set<[String]> = []
        return keyPaths.filter { $0.allSatisfy { !$0.isEmpty && !$0.contains(".") } && seen.insert($0).inserted }
            .map { "--key \(ShellWord.quoted($0.joined(separator: "."), keeping: "="))" }
    }

    /// Runs a closure. Adds the name of the file to an error about the JSON of the file.
    static func naming<Result>(_ file: String, in body: () async throws -> Result) async throws -> Result {
        do {
            return try await body()
        } catch let error as SyncError where error.isAboutPayload {
            throw error.naming(file)
        }
    }

    /// Returns the error, with the path of the database if the error is about the database.
    func namingDatabase(_ path: String?) -> SyncError {
        guard let path else { return self }
        switch code {
        case .modelMismatch, .cannotOpenStore, .databaseError, .databaseBusy, .databaseReadOnly: return naming(path)
        default: return self
        }
    }

    /// Whether the error is about the JSON, not about the options of the command.
    private var isAboutPayload: Bool {
        switch code {
        case .malformedJSON, .invalidUTF8, .nestingTooDeep, .recordTooLarge, .recordExpected, .keyPathNotFound,
            .noRecords, .inconsistentRecords, .typeMismatch, .errorDocument:
            true
        default: false
        }
    }
}

// MARK: - Hints

extension SyncError {
    /// The hint that may help to resolve the error, such as an option; nil if there is none.
    var hint: TerminalText? {
        switch code {
        case .deletionLimitExceeded:
            "\(Self.deletionLimitHint); if the JSON lists only changes, use --delta"
        case .modelMismatch where isDataLoss: "use --allow-loss to accept the data loss"
        case .modelMismatch where problems.contains { $0.kind == .missingRequiredValue }:
            "give the attribute a default, or make it optional"
        case .engineBusy: nil
        case .databaseBusy: "use --busy-timeout 60s to wait longer"
        default: detectedFormat.map(Self.hint)
        }
    }

    /// Whether a migration failed only because it would lose data, which `--allow-loss` allows.
    var isDataLoss: Bool { !problems.isEmpty && problems.allSatisfy { $0.kind == .dataLoss } }

    /// The hint for all commands with a deletion limit.
    static let deletionLimitHint: TerminalText =
        "if these deletions are correct, raise the limit with --max-delete: a number of rows, a percentage such as 75%, or 100%"

    /// Returns the hint for a payload in another format.
    private static func hint(_ form: DetectedFormat) -> TerminalText {
        switch form {
        case .ndjson: "the payload has one JSON value per line: use --ndjson"
        case .jsonAPI: reading(form, by: "--form json-api")
        case .graphQL: reading(form, by: "--form graphql")
        case .keyed(namesFitKey: true): reading(form, by: "--keyed")
        case .keyed(namesFitKey: false): reading(form, by: "--keyed-by with the attribute that stores the object keys")
        case .keyed(namesFitKey: nil):
            reading(
                form, by: "--keyed if the object keys are the primary keys, else --keyed-by with an attribute for them")
        case .entities(let entities):
            reading(
                form,
                by: entities.sorted { $0.key < $1.key }.map {
                    "--entity \(ShellWord.quoted("\($0.key)=\($0.value)", keeping: "="))"
                }
                .joined(separator: " "))
        case .csv: "the payload looks like CSV: convert it to JSON first, for example with 'mlr --icsv --ojson cat'"
        case .yaml: "the payload looks like YAML: convert it to JSON first, for example with 'yq -o json'"
        case .xml: "the payload looks like XML: convert it to JSON first"
        case .html: "the payload looks like a web page, perhaps a login page: check the download"
        }
    }

    private static func reading(_ form: DetectedFormat, by option: String) -> TerminalText {
        "the payload looks like \(form.name): use \(option)"
    }
}

/// An error with a hint that applies to only some commands.
struct HintedError: LocalizedError {
    let error: SyncError
    let hint: TerminalText

    var errorDescription: String? { error.localizedDescription }
}

// MARK: - Error messages

extension SyncError {
    /// The text of the error: its message, location and cause, and the `--key` options that select a list inside the
    /// payload. Its first diagnostics and its fixes follow on separate lines.
    var visible: TerminalText {
        let place = self.place.map { "\($0)" as TerminalText }.joined(separator: ", ")
        var text = message
        var lists = keyOptions
        // If the payload has one list, its records are probably meant.
        if lists.count == 1, let cure = text.range(of: "; name one with --primary-key") {
            text.replaceSubrange(
                cure, with: "; to read the list inside, use \(lists[0]); otherwise name a key with --primary-key")
            lists = []
        }
        let line: TerminalText =
            "\(text)" + (place.isEmpty ? "" : " (\(place))") + (underlying.map { ": \($0)" } ?? "")
            + (lists.isEmpty ? "" : "; to read a list inside, use \(lists.joined(separator: " or "))")
        let problems = TruncatedList(problems).lines({ "  \($0.path): \($0.message)" }, hint: nil)
        let fixes = fixes.map { TerminalText(lines: $0) }
        return ([line] + problems + fixes).joined(separator: "\n")
    }
}

// MARK: - Notes about models

extension SyncModel {
    /// Prints a note about the transformers of the model that only an app can register. The command reads and writes
    /// values without these transformers.
    func warnAboutMissingTransformers() {
        let missing = missingTransformers.map { "'\($0.name)' (\($0.entity).\($0.attribute))" as TerminalText }
        guard !missing.isEmpty else { return }
        let names = TruncatedList(missing).text(between: ", ")
        Terminal.writeError(
            "note: values are read and written without transformers that only an app can register: " + names)
    }
}

// MARK: - Streams

/// The reason why a stream cannot be read or written.
enum StreamFailure {
    /// Returns the reason for an error number of the system.
    static func reason(_ code: Int32) -> String {
        // The replacement of a closed stream (see ``FileDescriptorLimit``) fails with this error.
        code == EBADF ? "it is closed" : String(cString: strerror(code))
    }

    /// Returns the reason for an error of Foundation, which often only wraps an error of the system.
    static func reason(_ error: any Error) -> String {
        let inner = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError
        guard let inner, inner.domain == NSPOSIXErrorDomain else { return error.localizedDescription }
        return reason(Int32(truncatingIfNeeded: inner.code))
    }
}
