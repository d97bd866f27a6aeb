import ArgumentParser
import Foundation
import Sync
import SyncTools

/// The command `syncdb doctor`, which reports problems of a payload or a database and their fixes.
struct Doctor: AsyncParsableCommand, InputCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Say what is wrong with a payload or a database, where, and what to change. Writes nothing.",
        discussion: """
            With a payload: keys that nothing takes, values that do not fit, records without a key, attributes never \
            given, keys of another type, references to rows that are not there, records of one row that contradict each \
            other. Without one: rows that lack what they \
            require, references that wait, damage. Either way: ambiguous names and missing inverses of the model.

            Exit codes: 0 nothing is lost (there may be notes), 1 something is: unmappedKey, valueDoesNotFit, \
            recordWithoutKey, shapeDoesNotFit, requiredValueMissing, entityMismatch, unknownKind, contradictingName, \
            contradictingRecords, conflictingKeys or damage.

            Examples:
              syncdb doctor users.json --entity User --model model.json
              syncdb doctor all.json --entity users=User --entity companies=Company --model model.json
              syncdb doctor issues.json --entity Issue --parent Repository:swift --model model.json
              syncdb doctor -d app.sqlite
            """)

    @Argument(
        help: "The JSON: a .json or .ndjson file, either also packed as .gz, or - for standard input.",
        completion: Completions.payload)
    var file: String?

    @Option(
        name: .customLong("entity"),
        help: ArgumentHelp(
            "The entity of the records. For a JSON object with several lists once for each, as in users=User.",
            valueName: "name"),
        completion: Completions.entity)
    var entityArguments: [String] = []

    @OptionGroup(title: "Model") var source: ModelOrDatabase

    @Option(help: ArgumentHelp("The keys that lead to the records inside the JSON: data.results", valueName: "path"))
    var key: String?

    @Flag(help: "The JSON is one record a line. (default for .ndjson files)")
    var ndjson = false

    @Option(
        help: ArgumentHelp(
            "The row the records belong to, as Entity:id, and the relationship if there are several. "
                + "(With --model it need not be stored.)",
            valueName: "entity:id[:relationship]"))
    var parent: ParentArgument?

    @Option(help: ArgumentHelp("The most that packed JSON may unpack to, as in 500M or 4G.", valueName: "size"))
    var maxSize: ByteCount = .standard

    @OptionGroup var layout: PayloadFormatOptions

    @Flag(help: "Print the findings as JSON.")
    var json = false

    @OptionGroup(title: "Output") var list: ListOptions

    @OptionGroup(title: "Output") var color: ColorOptions

    func validate() throws {
        if file != nil, entityArguments.isEmpty { throw ValidationError("--entity must say what the records are") }
        if file == nil, !entityArguments.isEmpty || key != nil || ndjson || parent != nil {
            throw ValidationError("--entity, --key, --ndjson and --parent are about a payload, and none is given")
        }
        try EntityArgument.check(entityArguments)
        if !EntityArgument.entities(entityArguments).isEmpty, parent != nil {
            throw ValidationError("--parent is about one entity, not about several lists")
        }
        if !EntityArgument.entities(entityArguments).isEmpty, !layout.isPlain || ndjson {
            throw ValidationError("several lists are plain JSON: without --form, --keyed-by and --ndjson")
        }
        if let key, key.split(separator: ".", omittingEmptySubsequences: false).contains(where: \.isEmpty) {
            throw ValidationError("--key '\(key)' has an empty part")
        }
    }

    var inputs: CommandInputs {
        CommandInputs(files: [file, source.model].compactMap(\.self), database: source.database)
    }
    var busyTimeout: TimeoutArgument? { source.busyTimeout }

    func run() async throws {
        let examination = try await examination()
        let printer = DiagnosticPrinter(examination: examination, limit: list.limit, style: color.style)
        try json ? Terminal.write(json: printer.json()) : Terminal.write(printer.text)
        if examination.losesData { throw ExitCode(ExitStatus.failed.rawValue) }
    }

    private func examination() async throws -> SyncExamination {
        guard let file else {
            guard let database = source.database else { return SyncExamination(of: try source.loaded()) }
            return try await DataStack.existing(at: database).examine()
        }
        let payload = PayloadSource(file)
        var options = SyncOptions()
        options.keyPath = key.map { $0.split(separator: ".").map(String.init) } ?? []
        options.format = layout.form(isNDJSON: ndjson || payload.isNDJSON)
        options.keyedBy = layout.names
        // The user has the file, so errors may show its values.
        options.includesValuesInErrors = true
        let data = try payload.read(unpackingTo: maxSize) { _, _ in }
        let entities = EntityArgument.entities(entityArguments)
        return try await SyncError.naming(payload.name) { [options] in
            guard entities.isEmpty else {
                return try await Sync.examine(data, inEntities: entities, stack: stack(), options: options)
            }
            let entity = EntityArgument(entityArguments.first ?? "").entity
            let parent = parent?.parent
            guard let database = source.database else {
                return try await Sync.examine(
                    data, inEntity: entity, model: source.loaded(), parent: parent, options: options)
            }
            return try await Sync.examine(
                data, inEntity: entity, stack: .existing(at: database), parent: parent, options: options)
        }
    }

    private func stack() throws -> DataStack {
        if source.model != nil { return try .inMemory(source.loaded(), transformers: .optional) }
        return try .existing(at: source.database ?? "")
    }
}

/// Prints diagnostics as text or JSON.
struct DiagnosticPrinter {
    let examination: SyncExamination
    /// The most diagnostics of one kind in the text; nil for all.
    let limit: Int?
    var style = Style.plain

    /// The diagnostics by kind, those about lost data first, and a summary line.
    var text: TerminalText {
        let groups = SyncExamination.Finding.Kind.allCases.map { kind in examination.findings.filter { $0.kind == kind }
        }
        return (groups.filter { !$0.isEmpty }.map(group) + [summary]).joined(separator: "\n\n")
    }

    /// Returns `{"findings": […], "losesData": true}` with sorted keys.
    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let form = Form(findings: examination.findings, losesData: examination.losesData)
        return String(decoding: try encoder.encode(form), as: UTF8.self)
    }

    private struct Form: Encodable {
        let findings: [SyncExamination.Finding]
        let losesData: Bool
    }

    private func group(_ findings: [SyncExamination.Finding]) -> TerminalText {
        let kind = findings[0].kind
        let title: TerminalText = "\(Self.title(of: kind))"
        let entries = TruncatedList(findings, upTo: limit).lines(entry, hint: "--all lists them")
        return ([kind.losesData ? style.red(title) : style.yellow(title)] + entries).joined(separator: "\n")
    }

    private func entry(_ finding: SyncExamination.Finding) -> TerminalText {
        let place: TerminalText = finding.path.map { "\($0): " } ?? ""
        let times: TerminalText = finding.count > 1 ? " (\(finding.count) times)" : ""
        return "  \(place)\(finding.message)\(times)\n      \(finding.advice)"
    }

    private var summary: TerminalText {
        let lost = examination.findings.filter { $0.kind.losesData }.count
        let notes = examination.findings.count - lost
        let count: TerminalText = "\(lost) \(lost == 1 ? "finding loses" : "findings lose") data, \(notes) worth a look"
        return lost == 0 ? style.green(notes == 0 ? "nothing found" : count) : style.red(count)
    }

    private static func title(of kind: SyncExamination.Finding.Kind) -> String {
        switch kind {
        case .unmappedKey: "Keys that nothing takes"
        case .valueDoesNotFit: "Values that do not fit"
        case .recordWithoutKey: "Records without a key"
        case .shapeDoesNotFit: "Relationships of another shape"
        case .requiredValueMissing: "Required values that are missing"
        case .entityMismatch: "Records of another entity"
        case .unknownKind: "Kinds that the model does not know"
        case .contradictingName: "Records that contradict their names"
        case .contradictingRecords: "Records that contradict each other"
        case .conflictingKeys: "Keys that contradict each other"
        case .damage: "Damage"
        case .keyOfAnotherType: "Keys of another type"
        case .attributeNeverSeen: "Attributes never given"
        case .unresolvedReference: "References that wait for their rows"
        case .ambiguousName: "Ambiguous names"
        case .missingInverse: "Missing inverses"
        case .missingTransformer: "Transformers that nobody registered"
        case .leftOutOfExports: "Left out of exports"
        }
    }
}
