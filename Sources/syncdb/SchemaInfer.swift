import ArgumentParser
import Foundation
import Sync
import SyncTools

/// The command `syncdb schema infer`, which infers a schema file from sample JSON.
struct SchemaInfer: AsyncParsableCommand, InputCommand {
    static let configuration = CommandConfiguration(
        commandName: "infer",
        abstract: "Infer a schema file from sample JSON.",
        discussion: """
            Standard error lists each guess with its evidence. Check the guesses before you use the model.

            It is an error if no JSON key is named like a primary key; the message lists candidates. Name the key with \
            --primary-key, or use the best candidate with --infer-key.

            Example: syncdb schema infer users.json --entity User --output model.json
            """)

    @Argument(help: "The samples: .json or .ndjson files, also compressed as .gz.", completion: Completions.payload)
    var files: [String]

    @Option(
        help: ArgumentHelp(
            "The entity of the records: one option for all files, or one per file. For a JSON object with several lists, "
                + "one option per list: --entity users=User.",
            valueName: "name"))
    var entity: [String]

    @OptionGroup var primaryKey: KeyOptions

    @OptionGroup var layout: PayloadFormatOptions

    @Option(help: ArgumentHelp("The key path of the records inside the JSON, such as data.results.", valueName: "path"))
    var key: String?

    @Flag(help: "Read one record per line. (default for .ndjson files)")
    var ndjson = false

    @Option(
        help: ArgumentHelp(
            "The output file; a name that ends in .gz is compressed. (default: - for standard output)",
            valueName: "file"
        ),
        completion: .file())
    var output: String?

    @Flag(help: "Do not print the guesses.")
    var quiet = false

    @Flag(help: "Print all guesses instead of the first 200.")
    var all = false

    /// The largest number of notes to print without `--all`.
    private static let maximumNotes = 200

    private var lists: [EntityArgument] { entity.map(EntityArgument.init) }

    /// The entity of each list by its key path; empty if `--entity` names no list.
    private var entities: [String: String] { EntityArgument.entities(entity) }

    func validate() throws {
        try EntityArgument.checkEntities(entity)
        if lists.contains(where: { $0.path != nil }) {
            guard lists.allSatisfy({ $0.path != nil }) else {
                throw ValidationError(
                    "with several lists, each --entity must name its list, such as --entity users=User")
            }
            guard entities.count == lists.count else { throw ValidationError("--entity names a list twice") }
            guard layout.isPlain, !ndjson else {
                throw ValidationError("--form, --keyed, --keyed-by and --ndjson cannot be used with several lists")
            }
            return
        }
        if ndjson, !layout.isPlain {
            throw ValidationError("--ndjson, --form, --keyed and --keyed-by cannot be used together")
        }
        try layout.check(key: key, ndjson: ndjson, files: files)
        guard entity.count == 1 || entity.count == files.count else {
            throw ValidationError("give --entity once, or once for each of the \(files.count) files")
        }
    }

    var inputs: CommandInputs { CommandInputs(files: files) }

    func run() async throws {
        let samples = try files.enumerated().map { index, file in
            let isOne = entity.count == 1 || !entities.isEmpty
            var sample = try PayloadSource(file).sample(
                entity: lists[isOne ? 0 : index].entity, layout, keyPath: key, isNDJSON: ndjson)
            sample.entities = entities
            primaryKey.apply(to: &sample)
            return sample
        }
        let inferred = try InferredModel(from: samples)
        if !quiet {
            let notes = TruncatedList(inferred.notes, upTo: all ? nil : Self.maximumNotes)
            for line in notes.lines({ "\($0)" }, hint: "use --all to list them") { Terminal.writeError(line) }
        }
        try await inferred.model.write(to: output, besides: inputs)
    }
}

extension PayloadSource {
    /// Reads the JSON as a sample for inference.
    func sample(
        entity: String, _ layout: PayloadFormatOptions, keyPath: String?, isNDJSON: Bool,
        unpackingTo limit: ByteCount = .standard
    ) throws -> InferenceSample {
        var sample = try InferenceSample(
            read(unpackingTo: limit) { _, _ in }, entity: entity,
            form: layout.form(isNDJSON: isNDJSON || self.isNDJSON),
            keyPath: SyncOptions.KeyPath(keyPath ?? "").keys, name: name)
        sample.keyedBy = layout.names
        return sample
    }
}

/// The command `syncdb schema swift`, which writes a model as Swift types.
struct SchemaSwift: AsyncParsableCommand, InputCommand {
    static let configuration = CommandConfiguration(
        commandName: "swift",
        abstract: "Generate Swift types from a model.",
        discussion: """
            The types use the macro @Entity; SyncModel creates the same model from them. With --records, the types are GRDB \
            records, which need only GRDB to read and write the tables of a store.

            Examples:
              syncdb schema swift --model App.xcdatamodeld --output Model.swift
              syncdb schema swift -d app.sqlite --records --namespace Stored
            """)

    @OptionGroup(title: "Model") var source: ModelOrDatabase

    @Flag(help: "Generate GRDB records, which do not need Sync.")
    var records = false

    @Option(help: ArgumentHelp("Put the types in an enumeration with this name.", valueName: "name"))
    var namespace: String?

    @Option(
        help: ArgumentHelp("The output file. (default: - for standard output)", valueName: "file"),
        completion: .file())
    var output: String?

    @OptionGroup(title: "Output") var color: ColorOptions

    var inputs: CommandInputs { CommandInputs(files: source.model.map { [$0] } ?? [], database: source.database) }
    var busyTimeout: TimeoutArgument? { source.busyTimeout }

    func run() async throws {
        let written = SwiftCodeGenerator(try source.loaded(), form: records ? .records : .macros, namespace: namespace)
        for remark in written.notes { Terminal.writeError("note: \(remark)") }
        try await ExportDestination(output, besides: inputs).write { write in try write(Data(written.text.utf8)) }
    }
}

/// The primary key for inference. `import`, `diff` and `schema infer` share these options.
struct KeyOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The JSON key that identifies a record, for an inferred model. For a composite key, separate the keys by commas "
                + "or repeat the option. (default: id, or a key with a similar name)",
            valueName: "keys"))
    var primaryKey: [String] = []

    @Flag(
        help: """
            If no JSON key is named like a primary key, use the best candidate: one, two or three keys that are unique in \
            all records.
            """)
    var inferKey = false

    /// The keys, after splitting at commas.
    private var keys: [String] {
        primaryKey.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
    }

    func validate() throws {
        if keys.contains(where: \.isEmpty) { throw ValidationError("--primary-key has an empty component") }
        if let twice = keys.first(where: { key in keys.count { $0 == key } > 1 }) {
            throw ValidationError("--primary-key names '\(twice)' twice")
        }
        if inferKey, !keys.isEmpty { throw ValidationError("--primary-key and --infer-key cannot be used together") }
    }

    /// Checks that the named key is the key of an entity of an existing database, which keeps its keys.
    ///
    /// - Throws: ``UsageError``.
    func check(_ name: String, in model: SyncModel) throws {
        guard !keys.isEmpty, let entity = try? model.compiled.entity(named: name) else { return }
        let parts = model.compiled.keyNames(of: entity)
        let attributes = model.compiled[entity.table].attributes
        let known = parts.map { part in
            [part, attributes.first { $0.name == part }?.remoteKey, part == "remoteID" ? "id" : nil]
                .compactMap { $0.map(Self.letters) }
        }
        let isSame =
            keys.count == parts.count
            && keys.allSatisfy { key in known.contains { $0.contains(Self.letters(key)) } }
        if isSame { return }
        throw UsageError(
            "--primary-key \(keys.joined(separator: ",")) is not the key of \(entity.name) in the database, "
                + "\(parts.joined(separator: ",")); import into a new database")
    }

    /// Returns the letters and digits of a name, so that `user_id` and `userID` are equal.
    private static func letters(_ name: String) -> String { name.lowercased().filter { $0.isLetter || $0.isNumber } }

    func apply(to sample: inout InferenceSample) {
        if !keys.isEmpty { sample.primaryKey = SyncModel.PrimaryKey(keys) }
        sample.infersKey = inferKey
    }
}
