import ArgumentParser
import Sync
import SyncTools

/// What identifies a record where a model is inferred: shared by `import`, `diff` and `schema infer`.
struct KeyOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The JSON key that identifies a record, or several that do together, with commas or given again, where a model "
                + "is inferred. (default: id, or another name of a key)",
            valueName: "keys"))
    var primaryKey: [String] = []

    @Flag(
        help: """
            Where no key is called like one, take the best that the values allow: one, two or three keys that are unique in \
            all records.
            """)
    var inferKey = false

    /// The keys, one by one.
    private var keys: [String] {
        primaryKey.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
    }

    func validate() throws {
        if keys.contains(where: \.isEmpty) { throw ValidationError("--primary-key has an empty part") }
        if let twice = keys.first(where: { key in keys.count { $0 == key } > 1 }) {
            throw ValidationError("--primary-key names '\(twice)' twice")
        }
        if inferKey, !keys.isEmpty { throw ValidationError("--primary-key and --infer-key exclude each other") }
    }

    func apply(to sample: inout InferenceSample) {
        if !keys.isEmpty { sample.primaryKey = SyncModel.PrimaryKey(keys) }
        sample.infersKey = inferKey
    }
}
