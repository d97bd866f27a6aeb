import Foundation
import Sync
import SyncTools

extension SyncError {
    /// The option that leads out of it, where there is one.
    var hint: VisibleText? {
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
    static let guardHint: VisibleText =
        "if that is right, --max-delete allows more: a number of rows, a part as in 75%, or 100%"

    /// What reads a payload that seems to be of another form.
    private static func hint(_ form: LikelyForm) -> VisibleText {
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

    private static func reading(_ form: LikelyForm, by option: String) -> VisibleText {
        "it looks like \(form.name): \(option) reads that"
    }
}

/// An error with the way out of it that the command has, where others have another.
struct HintedError: LocalizedError {
    let error: SyncError
    let hint: VisibleText

    var errorDescription: String? { error.localizedDescription }
}
