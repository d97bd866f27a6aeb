import ArgumentParser
import Foundation
import Sync

/// The command `syncdb schema`, which shows, converts and changes models.
struct Schema: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Show, convert, infer, migrate and draw models.",
        subcommands: [
            SchemaShow.self, SchemaConvert.self, SchemaInfer.self, SchemaAdopt.self, SchemaMigrate.self,
            SchemaDiagram.self, SchemaSwift.self, FormerSchemaAdopt.self,
        ])
}

/// The command `syncdb schema show`, which prints the entities of a model.
struct SchemaShow: ParsableCommand, InputCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show the model of a database or a file.",
        discussion: "Example: syncdb schema show -d app.sqlite")

    @OptionGroup(title: "Model") var source: ModelOrDatabase

    @Flag(help: "Print the model as a schema file.")
    var json = false

    @OptionGroup(title: "Output") var color: ColorOptions

    var inputs: CommandInputs { CommandInputs(files: source.model.map { [$0] } ?? [], database: source.database) }
    var busyTimeout: TimeoutArgument? { source.busyTimeout }

    func run() throws {
        let model = try source.loaded()
        if json { return try Terminal.write(json: model.schemaText()) }
        try Terminal.write(ModelPrinter(model: model, style: color.style).text)
    }
}

/// The command `syncdb schema convert`, which writes a model as a schema file.
struct SchemaConvert: AsyncParsableCommand, InputCommand {
    static let configuration = CommandConfiguration(
        commandName: "convert",
        abstract: "Convert a Core Data model or a schema file to a schema file.",
        discussion: "Example: syncdb schema convert App.xcdatamodeld --output model.json")

    @Argument(
        help: "The model: a schema file (.json) or a Core Data model (.xcdatamodel, .xcdatamodeld).",
        completion: Completions.model)
    var model: String

    @Option(
        help: ArgumentHelp(
            "The output file; a name that ends in .gz is compressed. (default: - for standard output)",
            valueName: "file"
        ),
        completion: .file())
    var output: String?

    @OptionGroup var color: ColorOptions

    var inputs: CommandInputs { CommandInputs(files: [model]) }

    func run() async throws {
        try await SyncModel.file(model).write(to: output, besides: inputs)
    }
}

extension SyncModel {
    /// Writes the model as a schema file.
    ///
    /// - Parameters:
    ///   - output: The path of the output; nil or `-` for standard output.
    ///   - inputs: The files that the command reads and must not overwrite.
    func write(to output: String?, besides inputs: CommandInputs) async throws {
        let text = try schemaText()
        try await ExportDestination(output, besides: inputs).write { write in try write(Data((text + "\n").utf8)) }
    }

    /// Returns the text of the schema file without the final line break.
    func schemaText() throws -> String {
        var text = String(decoding: schemaFile(), as: UTF8.self)
        while text.last == "\n" { text.removeLast() }
        return text
    }
}

/// The command `syncdb schema diagram`, which draws a model.
struct SchemaDiagram: ParsableCommand, InputCommand {
    enum Format: String, ExpressibleByArgument, CaseIterable { case mermaid, dot }

    static let configuration = CommandConfiguration(
        commandName: "diagram",
        abstract: "Draw a model as a Mermaid or Graphviz diagram.",
        discussion: "Example: syncdb schema diagram -d app.sqlite --format dot | dot -Tsvg > m.svg")

    @OptionGroup(title: "Model") var source: ModelOrDatabase

    @Option(help: "The diagram language.")
    var format: Format = .mermaid

    var inputs: CommandInputs { CommandInputs(files: source.model.map { [$0] } ?? [], database: source.database) }
    var busyTimeout: TimeoutArgument? { source.busyTimeout }

    func run() throws {
        let diagram = ModelDiagram(model: try source.loaded())
        try Terminal.write(TerminalText(lines: format == .mermaid ? diagram.mermaid : diagram.dot))
    }
}

/// A printer of a model as text, with one block for each entity.
///
///     User
///       remoteID   integer          primary key
///       email      string           from contact.email_address, required
///       company    → Company        inverse users
///       notes      → many Note      inverse user, cascade
struct ModelPrinter {
    let model: SyncModel
    var style = Style.plain

    var text: TerminalText {
        let rules = notes(model.keyCase, model.ignoredKeys)
        let blocks = model.entities.map(block)
        return (rules.isEmpty ? blocks : ["\(rules)"] + blocks).joined(separator: "\n\n")
    }

    private func notes(_ keys: KeyCase?, _ ignore: [String]) -> String {
        [keys.map { "keys in \($0.word)" }, ignore.isEmpty ? nil : "ignores \(ignore.joined(separator: ", "))"]
            .compactMap(\.self).joined(separator: "; ")
    }

    private func block(_ entity: SyncModel.Entity) -> TerminalText {
        var table = TablePrinter([
            TablePrinter.Column(title: title(entity)), TablePrinter.Column(title: ""), TablePrinter.Column(title: ""),
        ])
        table.maximumWidth = 80
        table.style = style
        for attribute in entity.attributes {
            table.add(["  " + attribute.name, type(attribute), notes(attribute, of: entity)])
        }
        for relationship in entity.relationships {
            let many = relationship.isToMany ? (relationship.isOrdered ? "many ordered " : "many ") : ""
            table.add([
                "  " + relationship.name, "→ \(many)\(relationship.destination)", notes(relationship, of: entity),
            ])
        }
        return table.text
    }

    private func title(_ entity: SyncModel.Entity) -> String {
        let rules = notes(entity.keyCase, entity.ignoredKeys)
        return entity.name + (entity.parent.map { ": \($0)" } ?? "") + (entity.isAbstract ? " (abstract)" : "")
            + (rules.isEmpty ? "" : " (\(rules))")
    }

    private func type(_ attribute: SyncModel.Attribute) -> String {
        let name = attribute.type.rawValue
        guard let source = attribute.sourceType, source.lowercased() != name else { return name }
        return "\(name) (\(source))"
    }

    private func notes(_ attribute: SyncModel.Attribute, of entity: SyncModel.Entity) -> String {
        var notes: [String] = []
        if isKey(attribute.name, of: entity) { notes.append("primary key") }
        if let key = attribute.remoteKey { notes.append("from \(key)") }
        if !attribute.isOptional { notes.append("required") }
        if attribute.defaultValue != nil { notes.append("has a default") }
        if !attribute.transformers.isEmpty {
            notes.append("transformed by \(attribute.transformers.joined(separator: ", then "))")
        }
        if let format = attribute.format { notes.append("format \(format.text)") }
        if !attribute.isExported { notes.append("not exported") }
        return notes.joined(separator: ", ")
    }

    private func notes(_ relationship: SyncModel.Relationship, of entity: SyncModel.Entity) -> String {
        var notes: [String] = []
        if isKey(relationship.name, of: entity) { notes.append("primary key") }
        if let inverse = relationship.inverse { notes.append("inverse \(inverse)") }
        if relationship.deleteRule != .nullify { notes.append("\(relationship.deleteRule.rawValue)") }
        if let key = relationship.remoteKey { notes.append("from \(key)") }
        if !relationship.isExported { notes.append("not exported") }
        return notes.joined(separator: ", ")
    }

    private func isKey(_ name: String, of entity: SyncModel.Entity) -> Bool {
        guard let compiled = try? model.compiled.entity(named: entity.name) else { return false }
        return model.compiled.keyNames(of: compiled).contains(name)
    }
}

// MARK: - Databases

/// The command `syncdb schema migrate`, which migrates a database to another model.
struct SchemaMigrate: ParsableCommand, InputCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Migrate a database to another model.",
        discussion: """
            Adds, renames (if the new model sets renamedFrom), widens and removes entities, attributes and relationships in one \
            transaction. If the migration would lose data, it lists the losses and changes nothing, unless --allow-loss is given.

            Example: syncdb schema migrate -d app.sqlite --model new.json --dry-run
            """)

    @OptionGroup(title: "Database") var location: DatabaseOptions

    @Option(help: ArgumentHelp("The new model.", valueName: "file"), completion: Completions.model)
    var model: String

    @Flag(help: "Accept the loss of data that the new model cannot store.")
    var allowLoss = false

    @Flag(help: "Print the changes and the data losses without writing anything.")
    var dryRun = false

    @Flag(help: "Print the changes and the data losses as JSON.")
    var json = false

    @OptionGroup(title: "Output") var list: ListOptions

    @OptionGroup(title: "Output") var color: ColorOptions

    var inputs: CommandInputs { CommandInputs(files: [model], database: location.database) }
    var busyTimeout: TimeoutArgument? { location.busyTimeout }

    func run() throws {
        let model = try SyncModel.file(model)
        try location.open().close()
        let report = try DataStack.migrationReport(to: model, at: location.url)
        let isRefused = !report.dataLosses.isEmpty && !allowLoss && !dryRun
        if !dryRun && !isRefused {
            try DataStack(
                model: model, at: location.url, migration: allowLoss ? .allowingDataLoss : .keepingData,
                transformers: .optional
            ).close()
        }
        try json ? Terminal.write(json: ResultJSON.text(report)) : Terminal.write(text(report))
        if isRefused {
            throw SyncError(
                .modelMismatch,
                "the migration would lose the data marked with -; nothing was changed; use --allow-loss to accept the loss"
            )
        }
    }

    private func text(_ report: MigrationReport) -> TerminalText {
        let style = color.style
        let changes = lines(report.changes, style.yellow("~"))
        let losses = lines(report.dataLosses, style.red("-"))
        return changes.isEmpty && losses.isEmpty ? "nothing to change" : (changes + losses).joined(separator: "\n")
    }

    private func lines(_ problems: [SyncDiagnostic], _ sign: TerminalText) -> [TerminalText] {
        TruncatedList(problems, upTo: list.limit).lines(
            { "\(sign) \($0.path): \($0.message)" }, hint: "use --all to list them")
    }
}

/// The command `syncdb schema introspect`, which derives a schema file from existing tables.
struct SchemaAdopt: AsyncParsableCommand, InputCommand {
    static let configuration = CommandConfiguration(
        commandName: "introspect",
        abstract: "Derive a schema file from the tables of a database.",
        discussion: """
            Tables become entities, columns attributes, foreign keys relationships with inverses, and join tables (two \
            foreign keys, no other columns) many-to-many relationships. The database is only read. Tables and columns that a sync cannot \
            write to are excluded; standard error gives each reason, and SQL that fixes it where SQL can.

            With the model, 'syncdb import --model model.json --existing-tables' syncs into the tables. An app opens its \
            database with it by DataStack(model:existingTablesIn:).

            Example: syncdb schema introspect app.sqlite --table posts --output model.json
            """)

    @Argument(help: "The SQLite database.", completion: Completions.database)
    var database: String

    @Option(
        help: ArgumentHelp(
            "Include only this table. Repeat the option for more tables. (default: all tables)", valueName: "name"))
    var table: [String] = []

    @Option(
        help: ArgumentHelp(
            "The output file; a name that ends in .gz is compressed. (default: - for standard output)",
            valueName: "file"
        ),
        completion: .file())
    var output: String?

    @Flag(help: "Do not print the excluded tables and columns.")
    var quiet = false

    @OptionGroup var color: ColorOptions

    var inputs: CommandInputs { CommandInputs(files: [], database: database) }

    func run() async throws {
        guard try FileStatus.ofDatabase(at: database) != nil else {
            throw SyncError(.cannotOpenStore, "there is no database '\(database)'")
        }
        let introspected = try AdoptedModel(at: URL(argument: database), tables: table)
        if !quiet {
            for remark in introspected.notes { Terminal.writeError(TerminalText(lines: "note: \(remark)")) }
        }
        try await introspected.model.write(to: output, besides: inputs)
    }
}

/// The command `syncdb schema adopt`, the former name of `syncdb schema introspect`.
struct FormerSchemaAdopt: AsyncParsableCommand, InputCommand {
    static let configuration = CommandConfiguration(commandName: "adopt", shouldDisplay: false)

    @OptionGroup var command: SchemaAdopt

    var inputs: CommandInputs { command.inputs }

    func run() async throws { try await command.run() }
}
