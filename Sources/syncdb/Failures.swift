import Foundation
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

// MARK: - SyncError+Hint

extension SyncError {
    /// The option that leads out of it, where there is one.
    var hint: TerminalText? {
        switch code {
        case .deletionGuard:
            "\(Self.guardHint); for an import of only what changed there is --delta"
        case .modelMismatch where !problems.isEmpty: "--allow-loss lets that go"
        case .engineBusy: nil
        case .storeBusy: "--busy-timeout 60s waits longer"
        default: likelyForm.map(Self.hint)
        }
    }

    /// What all commands have that the deletion guard may refuse.
    static let guardHint: TerminalText =
        "if that is right, --max-delete allows more: a number of rows, a part as in 75%, or 100%"

    /// What reads a payload that seems to be of another form.
    private static func hint(_ form: DetectedFormat) -> TerminalText {
        switch form {
        case .ndjson: "each line is JSON by itself: --ndjson reads that"
        case .jsonAPI: reading(form, by: "--form json-api")
        case .graphQL: reading(form, by: "--form graphql")
        case .keyed(namesFitKey: true): reading(form, by: "--keyed")
        case .keyed(namesFitKey: false): reading(form, by: "--keyed-by, with the attribute that their names fill,")
        case .keyed(namesFitKey: nil):
            reading(form, by: "--keyed-by with a name for what tells them apart, or --keyed if that is their id,")
        case .entities(let entities):
            reading(
                form,
                by: entities.sorted { $0.key < $1.key }.map {
                    "--entity \(ShellWord.quoted("\($0.key)=\($0.value)", keeping: "="))"
                }
                .joined(separator: " "))
        case .csv: "it looks like CSV, which is not read: convert it to JSON first, as 'mlr --icsv --ojson cat' does"
        case .yaml: "it looks like YAML, which is not read: convert it to JSON first, as 'yq -o json' does"
        case .xml: "it looks like XML, which is not read: convert it to JSON first"
        case .html: "it looks like a web page, perhaps one for logging in: see what was downloaded"
        }
    }

    private static func reading(_ form: DetectedFormat, by option: String) -> TerminalText {
        "it looks like \(form.name): \(option) reads that"
    }
}

/// An error with the way out of it that the command has, where others have another.
struct HintedError: LocalizedError {
    let error: SyncError
    let hint: TerminalText

    var errorDescription: String? { error.localizedDescription }
}

// MARK: - SyncError+Visible

extension SyncError {
    /// The error with its place, where there are lists of records instead, and the first of its problems on lines of their own.
    var visible: TerminalText {
        let place = self.place.map { "\($0)" as TerminalText }.joined(separator: ", ")
        let line: TerminalText =
            "\(message)" + (place.isEmpty ? "" : " (\(place))") + (underlying.map { ": \($0)" } ?? "")
            + (keyOptions.isEmpty ? "" : "; there are lists inside: \(keyOptions.joined(separator: ", "))")
        let problems = TruncatedList(problems).lines({ "  \($0.path): \($0.message)" }, hint: nil)
        let remedies = remedies.map { TerminalText(lines: $0) }
        return ([line] + problems + remedies).joined(separator: "\n")
    }
}

// MARK: - SyncModel+Remarks

extension SyncModel {
    /// Says on standard error which transformers the model names and only an app can have: values are read and written
    /// without them.
    func remarkOnMissingTransformers() {
        let missing = missingTransformers.map { "'\($0.name)' (\($0.entity).\($0.attribute))" as TerminalText }
        guard !missing.isEmpty else { return }
        let names = TruncatedList(missing).text(between: ", ")
        Terminal.writeError("note: values are taken without the transformers that only an app can register: " + names)
    }
}

// MARK: - StreamFailure

/// Why a stream cannot be read or written, in words.
enum StreamFailure {
    /// - Parameter code: The system's number for it.
    static func reason(_ code: Int32) -> String {
        // What stands in the place of a closed stream (see ``Descriptors``) can be told by this alone.
        code == EBADF ? "it is closed" : String(cString: strerror(code))
    }

    /// What Foundation throws is often no more than a wrapper round the system's number.
    static func reason(_ error: any Error) -> String {
        let inner = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError
        guard let inner, inner.domain == NSPOSIXErrorDomain else { return error.localizedDescription }
        return reason(Int32(truncatingIfNeeded: inner.code))
    }
}
