import ArgumentParser
import Foundation
import Sync
import SyncTools

/// The command `syncdb schema infer`, which infers a schema file from sample JSON.
struct SchemaInfer: AsyncParsableCommand, InputCommand {
    static let configuration = CommandConfiguration(
        commandName: "infer",
        abstract: "Work out a schema file from sample JSON.",
        discussion: """
            What was guessed, and on how much evidence, goes to standard error. Look it over before you trust it.

            Records without a key that is called like one are refused with those that could be: --primary-key names it, \
            --infer-key takes the best.

            Example: syncdb schema infer users.json --entity User --output model.json
            """)

    @Argument(help: "Samples: .json or .ndjson files, or either as .gz.", completion: Completions.payload)
    var files: [String]

    @Option(
        help: ArgumentHelp(
            "The entity of the records; given once for all files, or once per file. For a JSON object with several lists "
                + "once for each, as in users=User.",
            valueName: "name"))
    var entity: [String]

    @OptionGroup var primaryKey: KeyOptions

    @OptionGroup var layout: PayloadFormatOptions

    @Option(help: ArgumentHelp("The keys that lead to the records inside the JSON: data.results", valueName: "path"))
    var key: String?

    @Flag(help: "The JSON is one record a line. (default for .ndjson files)")
    var ndjson = false

    @Option(
        help: ArgumentHelp(
            "Where to write it; a name that ends in .gz is packed. (default, and -: standard output)", valueName: "file"
        ),
        completion: .file())
    var output: String?

    @Flag(help: "Do not say what was guessed.")
    var quiet = false

    @Flag(help: "Say all that was guessed, not only the first 200 guesses.")
    var all = false

    /// A longer list is not useful.
    private static let maximumRemarks = 200

    private var lists: [EntityArgument] { entity.map(EntityArgument.init) }

    /// The entity of each list by its key path; empty if each file has one list.
    private var entities: [String: String] { EntityArgument.entities(entity) }

    func validate() throws {
        if lists.contains(where: { $0.path != nil }) {
            guard lists.allSatisfy({ $0.path != nil }) else {
                throw ValidationError("several --entity say which list each is of, as in --entity users=User")
            }
            guard entities.count == lists.count else { throw ValidationError("--entity names a list twice") }
            guard layout.isPlain, !ndjson else {
                throw ValidationError("several lists are plain JSON: without --form, --keyed-by and --ndjson")
            }
            return
        }
        if ndjson, !layout.isPlain { throw ValidationError("--ndjson, --form and --keyed-by exclude each other") }
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
            let remarks = TruncatedList(inferred.remarks, upTo: all ? nil : Self.maximumRemarks)
            for line in remarks.lines({ "\($0)" }, hint: "--all lists them") { Terminal.writeError(line) }
        }
        try await inferred.model.write(to: output, besides: inputs)
    }
}

extension PayloadSource {
    /// Returns the JSON as a sample for inference.
    func sample(
        entity: String, _ layout: PayloadFormatOptions, keyPath: String?, isNDJSON: Bool,
        unpackingTo limit: ByteCount = .standard
    ) throws -> InferenceSample {
        var sample = try InferenceSample(
            read(unpackingTo: limit) { _, _ in }, entity: entity,
            form: layout.form(isNDJSON: isNDJSON || self.isNDJSON),
            keyPath: keyPath?.split(separator: ".").map(String.init) ?? [], name: name)
        sample.keyedBy = layout.names
        return sample
    }
}

/// The command `syncdb schema swift`, which writes a model as Swift types.
struct SchemaSwift: AsyncParsableCommand, InputCommand {
    static let configuration = CommandConfiguration(
        commandName: "swift",
        abstract: "Write a model as Swift types.",
        discussion: """
            Types with @Entity, of which SyncModel makes the same model again; or, with --records, types that need \
            nothing but GRDB to read and write the tables of a store.

            Example: syncdb schema swift --model App.xcdatamodeld --output Model.swift
            Example: syncdb schema swift -d app.sqlite --records --namespace Stored
            """)

    @OptionGroup(title: "Model") var source: ModelOrDatabase

    @Flag(help: "Write records of GRDB's, which need no Sync.")
    var records = false

    @Option(help: ArgumentHelp("Put the types in an enumeration of this name.", valueName: "name"))
    var namespace: String?

    @Option(
        help: ArgumentHelp("Where to write it. (default, and -: standard output)", valueName: "file"),
        completion: .file())
    var output: String?

    @OptionGroup(title: "Output") var color: ColorOptions

    var inputs: CommandInputs { CommandInputs(files: source.model.map { [$0] } ?? [], database: source.database) }
    var busyTimeout: TimeoutArgument? { source.busyTimeout }

    func run() async throws {
        let written = SwiftCodeGenerator(try source.loaded(), form: records ? .records : .macros, namespace: namespace)
        for remark in written.remarks { Terminal.writeError("note: \(remark)") }
        try await ExportDestination(output, besides: inputs).write { write in try write(Data(written.text.utf8)) }
    }
}

/// The primary key for inference. `import`, `diff` and `schema infer` share these options.
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

    /// The keys, after splitting at commas.
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
