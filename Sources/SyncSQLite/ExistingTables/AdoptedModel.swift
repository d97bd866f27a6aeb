package import Foundation
package import GRDB
package import SyncCore

/// A model derived from the existing tables of a database.
///
/// ```swift
/// let adopted = try AdoptedModel(of: pool)
/// for note in adopted.notes { print(note) }
/// try adopted.model.schemaFile().write(to: modelURL)
/// ```
/// Tables become entities, and columns become attributes of the declared types. Suitable foreign keys become
/// relationships with inverses. A table that consists of two foreign keys becomes a many-to-many relationship.
///
/// The model omits generated columns. It also omits other columns and tables that a sync cannot write to, and ``notes``
/// lists these omissions. Therefore, ``DataStack/init(model:existingTablesIn:transformers:)`` accepts the model.
package struct AdoptedModel: Sendable {
    /// The model, with the entities of the suitable tables.
    package let model: SyncModel
    /// A note for each omitted table or column, and for each foreign key without a relationship. A note contains a path
    /// and the reason: `tables.post.rating: …`. The notes do not list generated columns.
    package let notes: [String]

    /// Derives a model from the tables of a database. The call reads all rows of the tables and writes nothing.
    ///
    /// - Parameter tables: The names of the tables to read; empty for all tables except those with the prefix
    ///   `sqlite_`, `sync_` or `grdb_`.
    /// - Throws: ``SyncError`` `databaseError`. `incompatibleTables` if the database has no tables, if one of `tables`
    ///   does not exist, or if no table is suitable.
    package init(of reader: some DatabaseReader, tables: [String] = []) throws {
        (model, notes) = try DatabaseErrorMapper.mapped(.databaseError, "cannot read the tables of the database") {
            try reader.read { db in
                var draft = try IntrospectedTables(tables, in: db)
                let model = try draft.model()
                return (model, Self.texts(of: draft.notes))
            }
        }
    }

    /// Returns the notes as text. Of notes with the same SQL, the last one has it.
    private static func texts(of notes: [SyncDiagnostic]) -> [String] {
        let last = Dictionary(notes.indices.compactMap { index in notes[index].fixSQL.map { ($0, index) } }) { $1 }
        return notes.enumerated().map { index, note in
            "\(note.path): \(note.message)" + (note.fixSQL.flatMap { last[$0] == index ? "\n\($0)" : nil } ?? "")
        }
    }

    /// Derives a model from the tables of a database file.
    ///
    /// - Throws: ``SyncError`` `cannotOpenStore`, and the errors of ``init(of:tables:)``.
    package init(at url: URL, tables: [String] = []) throws {
        guard url.isFileURL, FileStatus(at: url.path)?.isRegular == true else {
            throw SyncError(.cannotOpenStore, "no database at '\(url.path)'")
        }
        var configuration = StoreFile.configuration()
        configuration.readonly = true
        let queue = try DatabaseErrorMapper.mapped(.cannotOpenStore, "cannot read '\(url.path)' as a database") {
            try DatabaseQueue(path: url.path, configuration: configuration)
        }
        defer { try? queue.close() }
        try self.init(of: queue, tables: tables)
    }
}

extension DataStack {
    /// Prepares the existing tables of a database file. A stack that opens the file then uses these tables.
    ///
    /// - Throws: ``SyncError`` `cannotOpenStore`, and the errors of ``prepareExistingTables(of:in:)``.
    package static func prepareExistingTables(of model: SyncModel, at url: URL) throws {
        let message = "cannot use the existing tables of '\(url.path)'"
        try DatabaseErrorMapper.mapped(.cannotOpenStore, message) {
            let queue = try DatabaseQueue(path: url.path, configuration: StoreFile.configuration())
            defer { try? queue.close() }
            try queue.write { db in try prepareExistingTables(of: model, in: db) }
        }
    }
}

/// The tables from which a model is derived. Unsuitable tables and columns are left out until the model fits the
/// remaining ones.
struct IntrospectedTables {
    private let db: Database
    private var tables: [ExistingTable]
    /// The columns that are left out, by table.
    private var excludedColumns: [String: Set<String>] = [:]
    /// The tables and columns that were left out, with the reason.
    private(set) var notes: [SyncDiagnostic] = []

    init(_ names: [String], in db: Database) throws {
        self.db = db
        let known = try Row.fetchAll(
            db, sql: "SELECT name, type FROM pragma_table_list WHERE schema = 'main' ORDER BY name")
        guard known.contains(where: { !($0[0] as String).foldedForSQL.hasPrefix("sqlite_") }) else {
            throw SyncError(
                .incompatibleTables, "the database has no tables; a copy of an open database needs its -wal file too")
        }
        let unknown = names.filter { name in !known.contains { ($0[0] as String).foldedForSQL == name.foldedForSQL } }
        guard unknown.isEmpty else {
            throw SyncError(
                .incompatibleTables,
                "the database has no table '\(unknown[0])'"
                    + SimilarName.hint(for: unknown[0], among: known.map { $0[0] as String }))
        }
        let wanted = Set(names.map(\.foldedForSQL))
        tables = []
        for row in known {
            let name: String = row[0]
            let isOurs = ["sqlite_", "sync_", "grdb_"].contains { name.foldedForSQL.hasPrefix($0) }
            guard wanted.isEmpty ? !isOurs : wanted.contains(name.foldedForSQL) else {
                if !isOurs, let table = try ExistingTable(name, in: db) { addNote(ofMissingJoinTable: table, wanted) }
                continue
            }
            if row[1] == "table", let table = try ExistingTable(name, in: db) {
                add(table)
            } else if row[1] != "shadow" {
                let kind = row[1] == "view" ? "view" : "virtual table"
                addNote("tables.\(name)", "the \(kind) is excluded: only tables can be synced")
            }
        }
    }

    /// Adds a note for a join table of two chosen tables that was not chosen. The model then lacks their relationship.
    private mutating func addNote(ofMissingJoinTable table: ExistingTable, _ chosen: Set<String>) {
        let keys = table.foreignKeys
        guard table.columns.count == 2, keys.count == 2, keys.allSatisfy({ chosen.contains($0.table.foldedForSQL) })
        else { return }
        addNote(
            "tables.\(table.name)",
            "the table is not chosen, but joins \(keys[0].table) and \(keys[1].table): add --table \(table.name)")
    }

    /// Adds a table, without the columns whose names a model cannot have. Excludes a table if its own name or a key
    /// column has such a name.
    private mutating func add(_ table: ExistingTable) {
        if let problem = IntrospectedNames.problem(with: table.name) {
            return addNote("tables.\(table.name)", "the table is excluded: \(problem)")
        }
        for column in table.columns {
            guard let problem = IntrospectedNames.problem(with: column.name) else { continue }
            if column.keyPosition > 0 {
                return addNote("tables.\(table.name).\(column.name)", "the table is excluded: \(problem)")
            }
            excludedColumns[table.name, default: []].insert(column.name.foldedForSQL)
            addNote("tables.\(table.name).\(column.name)", "the column is excluded: \(problem)")
        }
        tables.append(table)
    }

    /// Returns the model of all suitable tables.
    mutating func model() throws -> SyncModel {
        while !tables.isEmpty {
            var draft = IntrospectedEntities(tables, excludedColumns)
            let entities = try draft.entities(db)
            for (path, message, sql) in draft.notes { addNote(path, message, sql) }
            if !draft.unfit.isEmpty {
                tables.removeAll { draft.unfit.contains($0.name) }
                continue
            }
            let model = try SyncModel(entities: entities)
            let keys = draft.keyColumns
            let problems = try TableCompatibilityCheck.problems(model, in: db, readsValues: true)
            if problems.isEmpty { return model }
            let before = excludedColumns
            for found in problems { exclude(found, keys, before) }
        }
        throw SyncError(
            .incompatibleTables, "no table of the database can be synced without changes", problems: notes)
    }

    private mutating func addNote(_ path: String, _ message: String, _ sql: String? = nil) {
        let problem = SyncDiagnostic(.incompatibleTable, path: path, message: message, fixSQL: sql)
        if !notes.contains(problem) { notes.append(problem) }
    }

    /// Returns the column with this name if it can be left out; nil otherwise. Rows can be inserted without such a
    /// column, and it is not part of a key or a foreign key.
    private static func droppable(
        _ name: String?, of table: ExistingTable, _ keys: [String: Set<String>]
    ) -> ExistingTable.Column? {
        guard let column = name.flatMap(table.column), table.foreignKey(of: column.name) == nil,
            !(keys[table.name]?.contains(column.name.foldedForSQL) ?? false),
            !column.isNotNull || column.defaultValue != nil
        else { return nil }
        return column
    }

    /// Leaves out the columns that a trigger writes, if they can be left out.
    ///
    /// - Returns: Whether the problem is solved.
    private mutating func excludeColumns(_ found: TableIncompatibilities.Found, _ keys: [String: Set<String>]) -> Bool {
        guard let (columns, name, trigger) = found.omission,
            let table = tables.first(where: { $0.name.foldedForSQL == name.foldedForSQL })
        else { return false }
        let written = columns.compactMap { Self.droppable($0, of: table, keys) }
        guard written.count == columns.count else { return false }
        for column in written
        where excludedColumns[table.name, default: []].insert(column.name.foldedForSQL).inserted {
            addNote(
                "tables.\(table.name).\(column.name)", "the column is excluded: the trigger \(trigger) writes it")
        }
        return true
    }

    /// Leaves out the columns of a problem if they can be left out; otherwise, leaves out its table.
    private mutating func exclude(
        _ found: TableIncompatibilities.Found, _ keys: [String: Set<String>], _ before: [String: Set<String>]
    ) {
        guard let table = tables.first(where: { $0.name == found.table }) else { return }
        if excludeColumns(found, keys) { return }
        let column = found.column.flatMap(table.column)
        if let column, before[table.name]?.contains(column.name.foldedForSQL) != true,
            excludedColumns[table.name]?.contains(column.name.foldedForSQL) ?? false
        {
            // The column was already left out because of an earlier problem in the same list.
            return
        }
        // Messages about a column lack a subject, unless they begin with a count.
        let lacksSubject = column != nil && found.problem.message.first?.isNumber != true
        if let column = Self.droppable(found.column, of: table, keys) {
            excludedColumns[table.name, default: []].insert(column.name.foldedForSQL)
            addNote(
                found.problem.path, "the column is excluded: \(lacksSubject ? "it " : "")\(found.problem.message)",
                found.problem.fixSQL)
        } else {
            tables.removeAll { $0.name == table.name }
            addNote(
                found.problem.path,
                "the table is excluded: \(lacksSubject ? "the column " : "")\(found.problem.message)",
                found.problem.fixSQL)
        }
    }
}

/// Derives the names of entities, attributes and relationships from the names of tables and columns.
struct IntrospectedNames {
    private var entities: Set<String> = []
    /// The names of attributes and relationships, by entity.
    private var members: [String: Set<String>] = [:]

    /// Returns an unused entity name for a table: `blog_posts` → `BlogPost`.
    mutating func entity(of table: String) -> String {
        let name = Inflection.singular(Self.plain(table))
        return Self.free(name.prefix(1).uppercased() + name.dropFirst(), &entities)
    }

    mutating func member(_ name: String, of entity: String) -> String {
        Self.free(Self.allowed(name), &members[entity, default: []])
    }

    /// Returns the relationship name for a column: `author_id` → `author`.
    static func relationship(of column: String) -> String {
        let name = plain(column)
        guard name.count > 2, name.lowercased().hasSuffix("id") else { return name }
        let rest = String(name.dropLast(2))
        return name.hasSuffix("ID") || name.hasSuffix("Id") ? rest : name
    }

    /// Returns the name of the inverse relationship to the rows of a table: `posts` or `post`. If several foreign keys
    /// have the same destination, the name is that of their relationship and the table: `authorPosts`.
    static func inverse(of table: String, isMany: Bool, via relationship: String?) -> String {
        let one = Inflection.singular(plain(table))
        var name = isMany ? plural(one) : one
        if let relationship { name = relationship + name.prefix(1).uppercased() + name.dropFirst() }
        return name
    }

    private static func plural(_ word: String) -> String {
        let ending = word.suffix(2).lowercased()
        if word.hasSuffix("y"), !["ay", "ey", "oy", "uy"].contains(ending) { return word.dropLast() + "ies" }
        return word + (word.hasSuffix("s") || word.hasSuffix("x") || ["ch", "sh"].contains(ending) ? "es" : "s")
    }

    /// Returns a name in camel case: `full_name` → `fullName`, `ID` → `id`.
    static func plain(_ name: String) -> String {
        let isShouted = name.uppercased() == name && !name.contains("_")
        return allowed(isShouted ? name.lowercased() : Inflection.camelCase(name) ?? name)
    }

    /// Returns the reason why a model cannot use a name; nil if the name is allowed.
    static func problem(with name: String) -> String? {
        let folded = name.foldedForSQL
        if ["sync_", "sqlite_"].contains(where: folded.hasPrefix) {
            return "names that begin with 'sync_' or 'sqlite_' are reserved"
        }
        let isOdd =
            name.isEmpty || name.unicodeScalars.contains { $0 == "\"" || $0.properties.generalCategory == .control }
        return isOdd ? "a name must not be empty or contain quotes or control characters" : nil
    }

    /// Returns a name that a model allows: replaces other characters by `_`, and adds `_` before a reserved name.
    private static func allowed(_ name: String) -> String {
        let letters = name.map { $0.isLetter || $0.isNumber || $0 == "_" ? String($0) : "_" }.joined()
        let isReserved = ["sync_", "sqlite_"].contains { letters.lowercased().hasPrefix($0) }
        return isReserved || letters.isEmpty ? "_\(letters)" : letters
    }

    private static func free(_ name: String, _ taken: inout Set<String>) -> String {
        var free = name
        var number = 2
        while !taken.insert(free.foldedForSQL).inserted {
            free = "\(name)\(number)"
            number += 1
        }
        return free
    }
}
