import ArgumentParser
import Foundation
import Sync

/// What is synced and how: shared by `import` and `diff`.
struct PayloadOptions {
    let records: RecordsOptions
    let layout: LayoutOptions
    let rules: RuleOptions

    /// The entity of the records; of several lists, that of the first.
    var entity: String { records.entity }

    /// The entity of each list, by the keys that lead to it; empty if the JSON has one list.
    var entities: [String: String] { records.entities }

    /// Whether a model can be extended by the JSON.
    var canEvolve: Bool { layout.form != .jsonAPI }

    /// Reads all files, before anything is written, but for those that are larger than `size`.
    ///
    /// - Parameter size: Nil if all are needed whole.
    func read(wholeUpTo size: ByteCount?, _ progress: (Int, Int) -> Void) throws -> [Payload] {
        try records.files.map { file in
            let source = PayloadSource(file)
            let content =
                if let size {
                    try source.read(wholeUpTo: size, unpackingTo: rules.maxSize, progress)
                } else {
                    Payload.Content.whole(try source.read(unpackingTo: rules.maxSize, progress))
                }
            return Payload(
                name: source.name, content: content, form: layout.form(isNDJSON: rules.ndjson || source.isNDJSON))
        }
    }

    var options: SyncOptions {
        var options = SyncOptions(
            scope: rules.scope.scope, payload: rules.delta ? .delta : .snapshot, isStrict: rules.strict,
            deletionGuard: (rules.maxDelete ?? .standard).guardValue,
            deletesBesideUnread: rules.deletesBesideUnread)
        options.keyedBy = layout.names
        options.keyPath = rules.key.map { $0.split(separator: ".").map(String.init) } ?? []
        return options
    }

    /// - Throws: `ValidationError` for what each of the groups allows by itself.
    func validate() throws {
        let isPlain = layout.isPlain
        if !entities.isEmpty, rules.parent != nil || rules.predicate != nil {
            throw ValidationError("--where and --parent are about one entity, not about several lists")
        }
        if !entities.isEmpty, !isPlain || rules.ndjson {
            throw ValidationError("several lists are plain JSON: without --form, --keyed-by and --ndjson")
        }
        if rules.ndjson, !isPlain { throw ValidationError("--ndjson, --form and --keyed-by exclude each other") }
    }
}
