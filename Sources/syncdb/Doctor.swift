import ArgumentParser
import Foundation
import Sync
import SyncTools

/// The command `syncdb doctor`, which reports problems of a payload, a database or a model, and suggests fixes.
struct Doctor: AsyncParsableCommand, InputCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Validate a payload or a database and suggest fixes. Writes nothing.",
        discussion: """
            With a payload, reports unmapped keys, values of the wrong type, records without a primary key, inconsistent \
            records, pending references, primary keys that are converted to another type, and unused attributes. Without a payload, reports missing \
            required values, pending references and integrity violations of the database. In both cases, reports JSON \
            keys that match several attributes or relationships, and missing inverses of the model.

            Exit codes: 0 if no data would be lost (there may be warnings), 1 if there is an error of one of these kinds: \
            unmappedKey, typeMismatch, missingPrimaryKey, deletionsSkipped, cannotGenerateKey, missingKeyPart, \
            invalidRelationshipValue, missingRequiredValue, entityMismatch, unknownDiscriminatorValue, objectKeyMismatch, \
            inconsistentRecords, duplicateKeys, danglingLinks, integrityViolation.

            Examples:
              syncdb doctor users.json --entity User --model model.json
              syncdb doctor all.json --entity users=User --entity tags=Tag -d app.sqlite
              syncdb doctor issues.json --entity Issue --parent Project:7 -d app.sqlite
              syncdb doctor -d app.sqlite
            """)

    @Argument(
        help:
            "The JSON: a .json or .ndjson file (one record per line), also compressed as .gz, or - for standard input.",
        completion: Completions.payload)
    var file: String?

    @Option(
        name: .customLong("entity"),
        help: ArgumentHelp(
            "The entity of the records. For a JSON object with several lists, one option per list: --entity users=User.",
            valueName: "name"),
        completion: Completions.entity)
    var entityArguments: [String] = []

    @OptionGroup(title: "Model") var source: ModelOrDatabase

    @Option(help: ArgumentHelp("The key path of the records inside the JSON, such as data.results.", valueName: "path"))
    var key: String?

    @Flag(help: "Read one record per line. (default for .ndjson files)")
    var ndjson = false

    @Option(
        help: ArgumentHelp(
            "The parent row of the records, as Entity:id. Add the relationship if several lead to the records, or if the id "
                + "contains colons. With --model, the row need not be stored.",
            valueName: "entity:id[:relationship]"))
    var parent: ParentArgument?

    @Option(
        help: ArgumentHelp(
            "The maximum size of compressed JSON after decompression, such as 500M or 4G.", valueName: "size"))
    var maxSize: ByteCount = .standard

    @OptionGroup var layout: PayloadFormatOptions

    @Flag(help: "Print the result as JSON.")
    var json = false

    @OptionGroup(title: "Output") var list: ListOptions

    @OptionGroup(title: "Output") var color: ColorOptions

    func validate() throws {
        if file != nil, entityArguments.isEmpty {
            throw ValidationError("missing --entity: name the entity of the records")
        }
        if file == nil, !entityArguments.isEmpty || key != nil || ndjson || parent != nil {
            throw ValidationError("--entity, --key, --ndjson and --parent need a payload file")
        }
        try EntityArgument.check(entityArguments)
        if !EntityArgument.entities(entityArguments).isEmpty, parent != nil {
            throw ValidationError("--parent cannot be used with several lists")
        }
        if !EntityArgument.entities(entityArguments).isEmpty, !layout.isPlain || ndjson {
            throw ValidationError("--form, --keyed, --keyed-by and --ndjson cannot be used with several lists")
        }
        if let key, key.split(separator: ".", omittingEmptySubsequences: false).contains(where: \.isEmpty) {
            throw ValidationError("--key '\(key)' has an empty component")
        }
        try layout.check(key: key, ndjson: ndjson, files: [file].compactMap(\.self))
    }

    var inputs: CommandInputs {
        CommandInputs(files: [file, source.model].compactMap(\.self), database: source.database)
    }
    var busyTimeout: TimeoutArgument? { source.busyTimeout }

    func run() async throws {
        let diagnostics = try await diagnostics()
        let printer = DiagnosticPrinter(diagnostics: diagnostics, limit: list.limit, style: color.style)
        try json ? Terminal.write(json: printer.json()) : Terminal.write(printer.text)
        if diagnostics.losesData { throw ExitCode(ExitStatus.failed.rawValue) }
    }

    private func diagnostics() async throws -> [SyncDiagnostic] {
        guard let file else {
            guard let database = source.database else { return try source.loaded().validate() }
            return try await DataStack.existing(at: database).validate()
        }
        let payload = PayloadSource(file)
        var options = SyncOptions()
        options.keyPath = .init(key ?? "")
        options.format = layout.form(isNDJSON: ndjson || payload.isNDJSON)
        options.keyedBy = layout.names
        // The user has the file, so errors may show its values.
        options.includesValuesInErrors = true
        let data = try payload.read(unpackingTo: maxSize) { _, _ in }
        let entities = EntityArgument.entities(entityArguments)
        return try await SyncError.naming(payload.name) { [options] in
            guard entities.isEmpty else {
                return try await Sync.validate(data, inEntities: entities, stack: stack(), options: options)
            }
            let entity = EntityArgument(entityArguments.first ?? "").entity
            let parent = parent?.parent
            guard let database = source.database else {
                return try await Sync.validate(
                    data, inEntity: entity, model: source.loaded(), parent: parent, options: options)
            }
            return try await Sync.validate(
                data, inEntity: entity, stack: DataStack.existing(at: database), parent: parent, options: options)
        }
    }

    private func stack() throws -> DataStack {
        if source.model != nil { return try .inMemory(source.loaded(), transformers: .optional) }
        return try .existing(at: source.database ?? "")
    }
}

/// A printer of diagnostics as text or JSON.
struct DiagnosticPrinter {
    let diagnostics: [SyncDiagnostic]
    /// The largest number of diagnostics of one kind in the text; nil for all.
    let limit: Int?
    var style = Style.plain

    /// The diagnostics by kind, with kinds that lose data first, and a summary line.
    var text: TerminalText {
        let groups = SyncDiagnostic.Kind.allCases.map { kind in diagnostics.filter { $0.kind == kind }
        }
        return (groups.filter { !$0.isEmpty }.map(group) + [summary]).joined(separator: "\n\n")
    }

    /// Returns JSON in the form `{"findings": […], "losesData": true}`, with sorted keys.
    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let form = Form(findings: diagnostics, losesData: diagnostics.losesData)
        return String(decoding: try encoder.encode(form), as: UTF8.self)
    }

    private struct Form: Encodable {
        let findings: [SyncDiagnostic]
        let losesData: Bool
    }

    private func group(_ findings: [SyncDiagnostic]) -> TerminalText {
        let kind = findings[0].kind
        let title: TerminalText = "\(Self.title(of: kind))"
        let entries = TruncatedList(findings, upTo: limit).lines(entry, hint: "use --all to list them")
        return ([kind.losesData ? style.red(title) : style.yellow(title)] + entries).joined(separator: "\n")
    }

    private func entry(_ finding: SyncDiagnostic) -> TerminalText {
        let place: TerminalText = finding.path.isEmpty ? "" : "\(finding.path): "
        let times: TerminalText = finding.count > 1 ? " (\(finding.count) times)" : ""
        let suggestion: TerminalText = finding.suggestion.map { "\n      \($0)" } ?? ""
        return "  \(place)\(finding.message)\(times)\(suggestion)"
    }

    private var summary: TerminalText {
        let lost = diagnostics.filter { $0.kind.losesData }.count
        let notes = diagnostics.count - lost
        let count: TerminalText = "\(lost) error\(lost == 1 ? "" : "s"), \(notes) warning\(notes == 1 ? "" : "s")"
        return lost == 0 ? style.green(notes == 0 ? "no problems found" : count) : style.red(count)
    }

    private static func title(of kind: SyncDiagnostic.Kind) -> String {
        switch kind {
        case .unmappedKey: "Unmapped keys"
        case .typeMismatch: "Values of the wrong type"
        case .missingPrimaryKey: "Records without a primary key"
        case .deletionsSkipped: "Skipped deletions"
        case .cannotGenerateKey: "Keys that cannot be generated"
        case .missingKeyPart: "Keys that reference rows that are not stored"
        case .invalidRelationshipValue: "Invalid relationship values"
        case .ignoredRelationship: "Ignored relationships"
        case .missingRequiredValue: "Missing required values"
        case .entityMismatch: "Records of another entity"
        case .unknownDiscriminatorValue: "Unknown discriminator values"
        case .objectKeyMismatch: "Records that differ from their object key"
        case .inconsistentRecords: "Inconsistent records"
        case .duplicateKeys: "Duplicate keys"
        case .danglingLinks: "Dangling links"
        case .foreignKeyAction: "Foreign keys of tables outside the model"
        case .deniedDeletion: "Denied deletions"
        case .integrityViolation: "Integrity violations"
        case .invalidModel: "Problems of the model"
        case .tableChange: "Changed tables"
        case .dataLoss: "Lost data"
        case .incompatibleTable: "Incompatible tables"
        case .serviceError: "Errors of the service"
        case .convertedKeyType: "Converted keys"
        case .unusedAttribute: "Unused attributes"
        case .pendingReference: "Pending references"
        case .ambiguousKey: "Ambiguous keys"
        case .missingInverse: "Missing inverses"
        case .missingTransformer: "Unregistered transformers"
        case .notExported: "Not exported"
        }
    }
}
