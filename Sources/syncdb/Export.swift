import ArgumentParser
import Sync

/// `syncdb export`: rows of an entity as JSON, or in another form.
struct Export: AsyncParsableCommand, ReadingCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write rows of an entity as JSON that imports again.",
        discussion: """
            The other forms have the same keys as columns, and what is nested as JSON in its cell.

            Examples:
              syncdb export User -d app.sqlite --where 'age >= 18' --output users.json.gz
              syncdb export User -d app.sqlite --relationships none --format csv
            """)

    @Argument(help: "The entity. Rows of its sub-entities are its rows too.", completion: Completions.entity)
    var entity: String

    @OptionGroup(title: "Database") var location: DatabaseOptions

    @OptionGroup(title: "Rows") var condition: ConditionOptions

    @OptionGroup(title: "Rows") var selection: SelectionOptions

    @OptionGroup(title: "Records") var form: ExportFormOptions

    @OptionGroup(title: "Output") var target: ExportTarget

    @Option(
        help: ArgumentHelp(
            "Write one object, {\"AD\": {…}, \"AE\": {…}}, with the values of this attribute as names. "
                + "(Without it in the records.)",
            valueName: "attribute"))
    var keyedBy: String?

    @Flag(help: "The same, with the primary keys as names.")
    var keyed = false

    @OptionGroup(title: "Output") var color: ColorOptions

    var inputs: CommandInputs { CommandInputs(database: location.database) }
    var busyTimeout: WaitingTime? { location.busyTimeout }

    func validate() throws {
        if keyed, keyedBy != nil { throw ValidationError("--keyed and --keyed-by exclude each other") }
        if target.chosen != .json, options.keyedBy != nil {
            throw ValidationError("--keyed-by writes JSON; --format \(target.chosen.rawValue) excludes it")
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
        stack.model.remarkOnMissingTransformers()
        for omission in try stack.model.exportOmissions(of: entity, options: form.options) {
            Terminal.writeError("note: \(omission.description)")
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
                try await stack.exportText(
                    entity, as: format == .ndjson ? .ndjson : .json, where: predicate, orderedBy: selection.order,
                    limit: selection.limit, offset: selection.offset, options: options, write: write)
            }
        }
    }

    private static let outcome = "the output is not complete"

    /// Writes the records as rows, their keys as columns.
    private func export(_ stack: DataStack, where predicate: RecordPredicate, to printer: RowPrinter) async throws {
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

/// Where an export goes, and in which form.
struct ExportTarget: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "How to write records: json, ndjson, csv, tsv, or table, vertical and markdown for people. (default: json)",
            valueName: "format"))
    var format: RowFormat?

    @Flag(help: "Write one record a line instead of an array. The same as --format ndjson.")
    var ndjson = false

    @Option(
        help: ArgumentHelp(
            "Where to write it; a file is there, or gets its new contents, when they are complete. A name that ends in "
                + ".gz is packed. (default, and -: standard output)",
            valueName: "file"),
        completion: .file())
    var output: String?

    var chosen: RowFormat { ndjson ? .ndjson : format ?? .json }

    func validate() throws {
        if ndjson, let format, format != .ndjson {
            throw ValidationError("--ndjson and --format \(format.rawValue) exclude each other")
        }
    }
}

extension TextRow {
    /// Adds the members of a record in the order of the columns. Nearly always they come in it.
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
