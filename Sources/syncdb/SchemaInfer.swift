import ArgumentParser
import Foundation
import Sync

/// `syncdb schema infer`: a schema file from sample JSON.
struct SchemaInfer: AsyncParsableCommand, ReadingCommand {
    static let configuration = CommandConfiguration(
        commandName: "infer",
        abstract: "Work out a schema file from sample JSON.",
        discussion: """
            What was guessed, and on how much evidence, goes to standard error. Look it over before you trust it.

            Example: syncdb schema infer users.json --entity User --output model.json
            """)

    @Argument(help: "Samples: .json or .ndjson files, or either as .gz.", completion: Completions.payload)
    var files: [String]

    @Option(
        help: ArgumentHelp("The entity of the records; given once for all files, or once per file.", valueName: "name"))
    var entity: [String]

    @Option(help: ArgumentHelp("The key that identifies a record. (default: id)", valueName: "key"))
    var primaryKey: String?

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

    /// More than anybody looks over.
    private static let maximumRemarks = 200

    func validate() throws {
        guard entity.count == 1 || entity.count == files.count else {
            throw ValidationError("give --entity once, or once for each of the \(files.count) files")
        }
    }

    var inputs: CommandInputs { CommandInputs(files: files) }

    func run() async throws {
        let samples = try files.enumerated().map { index, file in
            try PayloadSource(file).sample(
                entity: entity.count == 1 ? entity[0] : entity[index], primaryKey: primaryKey, keyPath: key,
                isNDJSON: ndjson)
        }
        let inferred = try JSONLines.hinting(at: samples) { try InferredModel(from: samples) }
        if !quiet {
            let remarks = ShortList(inferred.remarks, upTo: all ? nil : Self.maximumRemarks)
            for line in remarks.lines({ "\($0)" }, hint: "--all lists them") { Terminal.writeError(line) }
        }
        try await inferred.model.write(to: output, besides: inputs)
    }
}

extension PayloadSource {
    /// The JSON as a sample to infer a model from.
    func sample(
        entity: String, primaryKey: String?, keyPath: String?, isNDJSON: Bool, unpackingTo limit: ByteCount = .standard
    ) throws -> InferenceSample {
        try InferenceSample(
            read(unpackingTo: limit) { _, _ in }, entity: entity, primaryKey: primaryKey,
            form: isNDJSON || self.isNDJSON ? .ndjson : .json,
            keyPath: keyPath?.split(separator: ".").map(String.init) ?? [], name: name)
    }
}
