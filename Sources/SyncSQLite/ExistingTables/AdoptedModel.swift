public import Foundation
public import GRDB
public import SyncCore

/// A model worked out from the tables of a database, to adopt them with.
///
/// ```swift
/// let adopted = try AdoptedModel(of: pool)
/// for remark in adopted.remarks { print(remark) }
/// try adopted.model.schemaFile().write(to: modelURL)
/// ```
/// Tables become entities, columns attributes of the types they are declared with, foreign keys relationships with
/// their inverses, and tables of two foreign keys many-to-many relationships. What a sync cannot write to as it is, is
/// left out and remarked upon, so that the model opens with ``DataStack/init(model:adopting:transformers:)``.
public struct AdoptedModel: Sendable {
    /// The entities of the tables that can be adopted.
    public let model: SyncModel
    /// What was left out, and why: `tables.post.rating: …`.
    public let remarks: [String]

    /// Reads the tables of a database, and all rows of them. Writes nothing.
    ///
    /// - Parameter tables: The tables that are wanted; none for all but those that begin with `sqlite_`, `sync_` and
    /// `grdb_`.
    /// - Throws: ``SyncError`` `unsuitableTables` if there is no table of such a name, or none that can be adopted;
    ///   `storeFailure`.
    public init(of reader: some DatabaseReader, tables: [String] = []) throws {
        (model, remarks) = try DatabaseErrorMapper.mapped(.storeFailure, "the tables of the database cannot be read") {
            try reader.read { db in
                var draft = try IntrospectedTables(tables, in: db)
                let model = try draft.model()
                return (model, draft.remarks.map { "\($0.path): \($0.message)" + ($0.sql.map { "\n\($0)" } ?? "") })
            }
        }
    }

    /// Reads the tables of a file.
    ///
    /// - Throws: ``SyncError`` `unreadableStore`, and what ``init(of:tables:)`` throws.
    public init(at url: URL, tables: [String] = []) throws {
        guard url.isFileURL, FileStatus(at: url.path)?.isRegular == true else {
            throw SyncError(.unreadableStore, "there is no database at '\(url.path)'")
        }
        var configuration = StoreFile.configuration()
        configuration.readonly = true
        let queue = try DatabaseErrorMapper.mapped(.unreadableStore, "'\(url.path)' cannot be read as a database") {
            try DatabaseQueue(path: url.path, configuration: configuration)
        }
        defer { try? queue.close() }
        try self.init(of: queue, tables: tables)
    }
}

/// The tables that a model is worked out from, less and less of them until the model fits.
struct IntrospectedTables {
    private let db: Database
    private var tables: [ExistingTable]
    /// By table, the columns that are left out.
    private var leftOut: [String: Set<String>] = [:]
    /// What was left out, and why.
    private(set) var remarks: [SyncError.Problem] = []

    init(_ names: [String], in db: Database) throws {
        self.db = db
        let known = try Row.fetchAll(
            db, sql: "SELECT name, type FROM pragma_table_list WHERE schema = 'main' ORDER BY name")
        let unknown = names.filter { name in !known.contains { ($0[0] as String).foldedForSQL == name.foldedForSQL } }
        guard unknown.isEmpty else {
            throw SyncError(
                .unsuitableTables,
                "the database has no table '\(unknown[0])'"
                    + SimilarName.hint(for: unknown[0], among: known.map { $0[0] as String }))
        }
        let wanted = Set(names.map(\.foldedForSQL))
        tables = []
        for row in known {
            let name: String = row[0]
            let isOurs = ["sqlite_", "sync_", "grdb_"].contains { name.foldedForSQL.hasPrefix($0) }
            guard wanted.isEmpty ? !isOurs : wanted.contains(name.foldedForSQL) else { continue }
            if row[1] == "table", let table = try ExistingTable(name, in: db) {
                add(table)
            } else if row[1] != "shadow" {
                let kind = row[1] == "view" ? "view" : "virtual table"
                remark("tables.\(name)", "the \(kind) is left out: it has no rows of its own")
            }
        }
    }

    /// Leaves out what a model has no names for.
    private mutating func add(_ table: ExistingTable) {
        if let problem = IntrospectedNames.problem(with: table.name) {
            return remark("tables.\(table.name)", "the table is left out: \(problem)")
        }
        for column in table.columns {
            guard let problem = IntrospectedNames.problem(with: column.name) else { continue }
            if column.keyPosition > 0 {
                return remark("tables.\(table.name).\(column.name)", "the table is left out: \(problem)")
            }
            leftOut[table.name, default: []].insert(column.name.foldedForSQL)
            remark("tables.\(table.name).\(column.name)", "the column is left out: \(problem)")
        }
        tables.append(table)
    }

    /// The model of all that fits.
    mutating func model() throws -> SyncModel {
        while !tables.isEmpty {
            var draft = IntrospectedEntities(tables, leftOut)
            let entities = try draft.entities(db)
            for (path, message, sql) in draft.remarks { remark(path, message, sql) }
            if !draft.unfit.isEmpty {
                tables.removeAll { draft.unfit.contains($0.name) }
                continue
            }
            let model = try SyncModel(entities: entities)
            let keys = draft.keyColumns
            let problems = try TableCompatibilityCheck.problems(model, in: db, readsValues: true) { table, column in
                Self.droppable(column, of: table, keys) == nil
            }
            if problems.isEmpty { return model }
            let before = leftOut
            for found in problems { addDeletionCandidate(found, keys, before) }
        }
        throw SyncError(
            .unsuitableTables, "the database has no table that can be adopted as it is", problems: remarks)
    }

    private mutating func remark(_ path: String, _ message: String, _ sql: String? = nil) {
        let problem = SyncError.Problem(path: path, message: message, sql: sql)
        if !remarks.contains(problem) { remarks.append(problem) }
    }

    /// A column that rows can do without; nil for another, or none.
    private static func droppable(
        _ name: String?, of table: ExistingTable, _ keys: [String: Set<String>]
    ) -> ExistingTable.Column? {
        guard let column = name.flatMap(table.column), table.foreignKey(of: column.name) == nil,
            !(keys[table.name]?.contains(column.name.foldedForSQL) ?? false),
            !column.isNotNull || column.defaultValue != nil
        else { return nil }
        return column
    }

    /// Leaves out a column that rows can do without, or else the table.
    private mutating func addDeletionCandidate(
        _ found: TableIncompatibilities.Found, _ keys: [String: Set<String>], _ before: [String: Set<String>]
    ) {
        guard let table = tables.first(where: { $0.name == found.table }) else { return }
        let column = found.column.flatMap(table.column)
        if let column, before[table.name]?.contains(column.name.foldedForSQL) != true,
            leftOut[table.name]?.contains(column.name.foldedForSQL) ?? false
        {
            // Left out for another problem just now.
            return
        }
        // What is said of a column begins with what it is.
        let subject = column == nil ? "" : "it "
        if let column = Self.droppable(found.column, of: table, keys) {
            leftOut[table.name, default: []].insert(column.name.foldedForSQL)
            remark(found.problem.path, "the column is left out: \(subject)\(found.problem.message)")
        } else {
            tables.removeAll { $0.name == table.name }
            remark(found.problem.path, "the table is left out: \(subject)\(found.problem.message)", found.problem.sql)
        }
    }
}

/// The names that tables and columns get in a model.
struct IntrospectedNames {
    private var entities: Set<String> = []
    /// By entity.
    private var members: [String: Set<String>] = [:]

    /// `blog_posts` → `BlogPost`.
    mutating func entity(of table: String) -> String {
        let name = Inflection.singular(Self.plain(table))
        return Self.free(name.prefix(1).uppercased() + name.dropFirst(), &entities)
    }

    mutating func member(_ name: String, of entity: String) -> String {
        Self.free(Self.allowed(name), &members[entity, default: []])
    }

    /// `author_id` → `author`.
    static func relationship(of column: String) -> String {
        let name = plain(column)
        guard name.count > 2, name.lowercased().hasSuffix("id") else { return name }
        let rest = String(name.dropLast(2))
        return name.hasSuffix("ID") || name.hasSuffix("Id") ? rest : name
    }

    /// What leads back to the rows of a table: `posts`, `post`, or of several ones `authorPosts`.
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

    /// `full_name` → `fullName`, `ID` → `id`.
    static func plain(_ name: String) -> String {
        let isShouted = name.uppercased() == name && !name.contains("_")
        return allowed(isShouted ? name.lowercased() : Inflection.camelCase(name) ?? name)
    }

    /// Why a model cannot name a table or column.
    static func problem(with name: String) -> String? {
        let folded = name.foldedForSQL
        if ["sync_", "sqlite_"].contains(where: folded.hasPrefix) { return "names beginning so are reserved" }
        let isOdd =
            name.isEmpty || name.unicodeScalars.contains { $0 == "\"" || $0.properties.generalCategory == .control }
        return isOdd ? "a name must not be empty or contain quotes or control characters" : nil
    }

    /// Without what a name must not have.
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
