import ArgumentParser
import Foundation
import Sync

/// What a shell offers for an argument.
enum Completions {
    static let payload = CompletionKind.file(extensions: ["json", "ndjson", "jsonl", "gz"])
    static let database = CompletionKind.file()
    static let model = CompletionKind.file()

    /// The entities of the database or the model that the line names before or after the cursor.
    static let entity = CompletionKind.custom { words, _, _ in entities(in: words) }

    /// Nothing if no database or model is named yet, or it cannot be read: a completion has nowhere to complain.
    static func entities(in words: [String]) -> [String] {
        guard Descriptors.areEnough else { return [] }
        let path = value(of: "--database", in: words) ?? value(of: "-d", in: words) ?? NamedDatabase.ofEnvironment
        let databaseModel = path.flatMap { path in
            try? DataStack(reading: URL(fileURLWithPath: path), transformers: .optional).model
        }
        let model =
            databaseModel
            ?? value(of: "--model", in: words).flatMap { path in try? SyncModel(contentsOf: URL(fileURLWithPath: path))
            }
        return model?.entities.filter { !$0.isAbstract }.map(\.name) ?? []
    }

    private static func value(of option: String, in words: [String]) -> String? {
        for (word, next) in zip(words, words.dropFirst()) where word == option { return expanded(next) }
        return words.first { $0.hasPrefix(option + "=") }.map { expanded(String($0.dropFirst(option.count + 1))) }
    }

    /// The words come as they are typed, before the shell has expanded them.
    private static func expanded(_ word: String) -> String {
        let unquoted = word.trimmingCharacters(in: CharacterSet(charactersIn: "'\""))
        return (unquoted as NSString).expandingTildeInPath
    }
}
