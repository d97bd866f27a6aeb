import ArgumentParser
import Foundation
import Sync

/// The command `syncdb export`, which writes rows of an entity as JSON or in another format.
struct Export: AsyncParsableCommand, InputCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write the rows of an entity as JSON, CSV or other formats.",
        discussion: """
            'syncdb import' can read the JSON back. The other formats have the same keys as columns; nested values are JSON in \
            one cell.

            Examples:
              syncdb export User -d app.sqlite --where 'age >= 18' --output users.json.gz
              syncdb export User -d app.sqlite --relationships none --format csv
            """)

    @Argument(help: "The entity. Includes the rows of its subentities.", completion: Completions.entity)
    var entity: String

    @OptionGroup(title: "Database") var location: DatabaseOptions

    @OptionGroup(title: "Rows") var condition: PredicateOptions

    @OptionGroup(title: "Rows") var selection: SelectionOptions

    @OptionGroup(title: "Records") var form: ExportFormOptions

    @OptionGroup(title: "Output") var target: ExportTarget

    @Option(
        help: ArgumentHelp(
            "Write one object of records, {\"AD\": {…}, \"AE\": {…}}, whose keys are the values of this attribute. The "
                + "records omit the attribute.",
            valueName: "attribute"))
    var keyedBy: String?

    @Flag(help: "Write one object of records whose keys are the primary keys.")
    var keyed = false

    @OptionGroup(title: "Output") var color: ColorOptions

    var inputs: CommandInputs { CommandInputs(database: location.database) }
    var busyTimeout: TimeoutArgument? { location.busyTimeout }

    func validate() throws {
        if keyed, keyedBy != nil { throw ValidationError("--keyed and --keyed-by cannot be used together") }
        if target.chosen != .json, options.keyedBy != nil {
            throw ValidationError(
                "--keyed and --keyed-by write JSON and cannot be used with --format \(target.chosen.rawValue)")
        }
    }

    private var options: ExportOptions {
        var options = form.options
        options.keyedBy = keyed ? .primaryKey : keyedBy.map { .attribute($0) }
        return options
    }

    func run() async throws {
        let stack = try location.open()
        let predicate = try condition.predicate()
        stack.model.warnAboutMissingTransformers()
        for omission in try stack.model.exportOmissions(of: entity, options: form.options) {
            Terminal.writeError("note: \(omission.message)")
        }
        let options = options
        let destination = try ExportDestination(target.output, besides: inputs)
        let format = target.chosen
        if format.isForPeople, case .standardOutput = destination {
            return try await export(stack, where: predicate, to: RowPrinter(format, style: color.style))
        }
        try await destination.write { write in
            guard format == .json || format == .ndjson else {
                return try await export(stack, where: predicate, to: RowPrinter(format, style: .plain, write: write))
            }
            try await Interruption.cancelling(outcome: Self.outcome) {
                try await stack.export(
                    entity, as: format == .ndjson ? .ndjson : .json, where: predicate, orderedBy: selection.order,
                    limit: selection.limit, offset: selection.offset, options: options, write: write)
            }
        }
    }

    private static let outcome = "the output is incomplete"

    /// Writes records as rows, with the keys of the records as columns.
    private func export(_ stack: DataStack, where predicate: RowPredicate, to printer: RowPrinter) async throws {
        let keys = try ExportKeys.keys(of: entity, in: stack.model, options)
        let columns = keys.map { RowColumn(title: $0.name, isNumeric: $0.isNumeric) }
        try await Interruption.cancelling(outcome: Self.outcome) {
            try await printer.print(columns) { append in
                try await stack.exportEach(
                    entity, where: predicate, orderedBy: selection.order, limit: selection.limit,
                    offset: selection.offset, options: options
                ) { record in
                    guard case .object(let members) = record else { return }
                    try append { $0.add(members, under: columns) }
                }
            }
        }
    }
}

/// The keys of exported records, for formats that list the keys once before the first record.
enum ExportKeys {
    /// Returns the keys of an entity's records in order, followed by further keys of subentities. The result also tells
    /// whether the values of each key are numbers.
    ///
    /// - Throws: ``SyncError`` `unknownEntity`.
    static func keys(
        of name: String, in model: SyncModel, _ options: ExportOptions
    ) throws -> [(name: String, isNumeric: Bool)] {
        let entity = try model.compiled.entity(named: name)
        var keys: [(name: String, isNumeric: Bool)] = []
        var known: Set<String> = []
        for id in [entity.id] + entity.family where !model.compiled.entities[id].isAbstract {
            let key = ExportSchemaKey(entity: id, destination: entity.id, isNested: false)
            for field in try ExportSchemaBuilder.shape(key, of: model, options).fields
            where known.insert(field.key).inserted {
                var isNumeric = false
                if case .attribute(let slot, nil, _) = field.content {
                    isNumeric = model.compiled[entity.table].attributes[slot].type.isNumeric
                }
                keys.append((field.key, isNumeric))
            }
        }
        return keys
    }
}

/// The destination and the format of an export.
struct ExportTarget: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The output format: json, ndjson, csv or tsv for programs; table, vertical or markdown for people. (default: json)",
            valueName: "format"))
    var format: RowFormat?

    @Flag(help: "Write one record per line. Same as --format ndjson.")
    var ndjson = false

    @Option(
        help: ArgumentHelp(
            "The output file; a name that ends in .gz is compressed. The file is created or replaced when the output is "
                + "complete. (default: - for standard output)",
            valueName: "file"),
        completion: .file())
    var output: String?

    var chosen: RowFormat { ndjson ? .ndjson : format ?? .json }

    func validate() throws {
        if ndjson, let format, format != .ndjson {
            throw ValidationError("--ndjson and --format \(format.rawValue) cannot be used together")
        }
    }
}

extension TextRow {
    /// Adds the members of a record in the order of the columns, which is usually the order of the members.
    fileprivate mutating func add(_ members: [JSONValue.Member], under columns: [RowColumn]) {
        var next = 0
        for column in columns {
            let place =
                next < members.count && members[next].key == column.title
                ? next : members.firstIndex { $0.key == column.title }
            if let place { next = place + 1 }
            add { bytes in
                switch place.map({ members[$0].value }) {
                case nil, .null: return false
                case .string(let text), .number(let text): bytes += text.utf8
                case .some(let value): JSONText.append(value, to: &bytes)
                }
                return true
            }
        }
    }
}

/// The options for the records of an export.
struct ExportFormOptions: ParsableArguments {
    @Option(
        name: .customLong("case"),
        help: ArgumentHelp(
            "The case of keys: first_name, firstName, FirstName, first-name, or the exact attribute name. (default: from "
                + "the model, else snake)"))
    var keyCase: CaseArgument?

    @Option(
        help: ArgumentHelp(
            "How to write relationships: as nested objects and arrays, as nested attributes for Rails (notes_attributes), or "
                + "not at all."))
    var relationships: RelationshipsArgument = .array

    @Option(
        help: ArgumentHelp(
            "The format of dates: iso8601 or a pattern such as yyyy-MM-dd. (default: from the model, else ISO 8601: "
                + "2024-02-29T18:29:59Z)",
            valueName: "pattern"))
    var dateFormat: String?

    @Option(help: ArgumentHelp("The time zone of dates, such as Europe/Oslo. (default: UTC)", valueName: "name"))
    var timeZone: String?

    var options: ExportOptions {
        ExportOptions(
            keyCase: keyCase.flatMap { KeyCase(rawValue: $0.rawValue) }, relationships: relationships.relationships,
            dateFormat: dateFormat.map { $0 == "iso8601" ? .iso8601 : .pattern($0) } ?? .attribute,
            timeZone: timeZone.flatMap(TimeZone.init(identifier:)) ?? .gmt)
    }

    func validate() throws {
        do { try options.validate() } catch let error as SyncError {
            throw ValidationError("--date-format: \(error.message)")
        }
        if let timeZone, TimeZone(identifier: timeZone) == nil {
            throw ValidationError("unknown --time-zone '\(timeZone)'; use a name such as Europe/Oslo or GMT+2")
        }
    }
}

/// The argument of `--case`.
enum CaseArgument: String, ExpressibleByArgument, CaseIterable {
    case snake, camel, pascal, kebab, exact
}

/// The argument of `--relationships`.
enum RelationshipsArgument: String, ExpressibleByArgument, CaseIterable {
    case array, nested, none

    var relationships: ExportOptions.Relationships {
        switch self {
        case .array: .array
        case .nested: .nested
        case .none: .none
        }
    }
}

/// The destination of the output of a command.
enum ExportDestination {
    typealias Write = OutputFile.Write

    case standardOutput
    case file(OutputFile)
    /// A file whose name ends with `.gz`.
    case packed(OutputFile)

    /// Creates a destination.
    ///
    /// - Parameters:
    ///   - argument: The path of the output; nil or `-` for standard output.
    ///   - inputs: The files that the command reads and must not overwrite.
    init(_ argument: String?, besides inputs: CommandInputs) throws {
        guard let argument, argument != "-" else {
            self = .standardOutput
            return
        }
        let file = try OutputFile(argument, besides: inputs)
        self = PayloadSource.file(argument).hasGzipName ? .packed(file) : .file(file)
    }

    /// Calls a closure that writes the output.
    ///
    /// - Throws: The error of the closure; ``SyncError`` `unreadableFile` if the file cannot be written. After an error
    ///   of the closure, no regular file was created or changed.
    func write(_ body: (@escaping Write) async throws -> Void) async throws {
        switch self {
        case .standardOutput: try await body(Self.writeOutput)
        case .file(let file): try await file.write(body)
        case .packed(let file):
            try await file.write { write in
                let deflation = try Deflation()
                try await body { data in try write(deflation.pack(data)) }
                try write(deflation.finish())
            }
        }
    }

    /// Writes a part of the output to standard output. A reader such as `head` may close the pipe early, which is not
    /// an error.
    private static func writeOutput(_ data: Data) throws {
        guard try Terminal.write(json: data) else { throw ExitCode.success }
    }
}
