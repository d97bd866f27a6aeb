import Foundation
import GRDB
import SyncCore
import SyncSQLite
import SyncStore
import SyncTesting

/// The changes that a connection without foreign keys makes to the rows and links of a store. The statements have the
/// same effect on each store with the same rows.
struct LinkDamage {
    private let layout: StoreLayout

    init(_ model: SyncModel) { layout = StoreLayout(model.compiled) }

    /// Returns a connection to a store without foreign keys.
    static func connection(to url: URL) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        configuration.busyMode = .timeout(5)
        return try DatabaseQueue(path: url.path, configuration: configuration)
    }

    /// Returns a statement for the rows of a store; nil if there is nothing to damage.
    func statement(_ random: inout SplitMix64, in db: Database) throws -> String? {
        let tree = random.pick(layout.model.hierarchies)
        let links = layout.model.links.filter { !$0.isSymmetric }
        if !links.isEmpty, random.chance(30) { return try linkStatement(random.pick(links), &random, in: db) }
        guard let row = try row(of: tree.id, &random, in: db) else { return nil }
        let condition = "WHERE \(key(tree.id)) = \(row)"
        guard random.chance(25), let other = key(&random, of: tree) else {
            return "DELETE FROM \(name(tree.id)) \(condition)"
        }
        return "UPDATE OR IGNORE \(name(tree.id)) SET \(key(tree.id)) = \(other) \(condition)"
    }

    private func linkStatement(_ link: CompiledAssociation, _ random: inout SplitMix64, in db: Database) throws
        -> String?
    {
        let tables = [link.first.table, link.second.table]
        let rows = try tables.map { try row(of: $0, &random, in: db) }
        let others = tables.map { key(&random, of: layout.model[$0]) }
        switch layout[link.id] {
        case .foreignKey(let table, let column, _):
            guard let row = rows[0], let other = others[1] else { return nil }
            return "UPDATE \(SchemaSQL.quoted(table)) SET \(SchemaSQL.quoted(column)) = \(other) "
                + "WHERE \(key(tables[0])) = \(row)"
        case .joinTable(let table, let first, let second, _, _):
            let columns = [first, second].map(SchemaSQL.quoted).joined(separator: ", ")
            let ends = zip(rows, others).compactMap { random.chance(50) ? $0 ?? $1 : $1 ?? $0 }
            guard ends.count == 2 else { return nil }
            return "INSERT OR IGNORE INTO \(SchemaSQL.quoted(table)) (\(columns)) "
                + "VALUES (\(ends.joined(separator: ", ")))"
        }
    }

    private func name(_ table: TableID) -> String { SchemaSQL.quoted(layout[table].name) }

    private func key(_ table: TableID) -> String { SchemaSQL.quoted(layout[table].keyColumn) }

    private func row(of table: TableID, _ random: inout SplitMix64, in db: Database) throws -> String? {
        let all = try String.fetchAll(db, sql: "SELECT quote(\(key(table))) FROM \(name(table)) ORDER BY 1")
        return all.isEmpty ? nil : random.pick(all)
    }

    /// Returns a key that a row may have, stored or not; nil for types without an available key.
    private func key(_ random: inout SplitMix64, of tree: EntityHierarchy) -> String? {
        switch tree.keySlot.map({ tree.attributes[$0].type }) {
        case nil, .integer: "\(random.below(30))"
        case .string: "'k\(random.below(30))'"
        default: nil
        }
    }

    // MARK: Repair

    /// Removes each link to a row that is not stored, and the pending references of rows that are not stored.
    func repair(_ db: Database) throws {
        for link in layout.model.links {
            let (first, second) = (link.first.table, link.second.table)
            switch layout[link.id] {
            case .foreignKey(let table, let column, let order):
                let cleared = [column, order].compactMap { $0 }.map { "\(SchemaSQL.quoted($0)) = NULL" }
                try db.execute(
                    sql: "UPDATE \(SchemaSQL.quoted(table)) SET \(cleared.joined(separator: ", ")) "
                        + "WHERE \(isMissing(column, of: table, second))")
            case .joinTable(let table, let firstColumn, let secondColumn, _, _):
                try db.execute(
                    sql: "DELETE FROM \(SchemaSQL.quoted(table)) "
                        + "WHERE \(isMissing(firstColumn, of: table, first)) OR \(isMissing(secondColumn, of: table, second))"
                )
            }
        }
        for entity in layout.model.entities {
            try db.execute(
                sql: "DELETE FROM sync_pending WHERE owner_entity = '\(entity.name)' "
                    + "AND \(isMissing("owner_key", of: "sync_pending", entity.table))")
        }
    }

    private func isMissing(_ column: String, of table: String, _ target: TableID) -> String {
        // The table of the row has columns of the same names.
        let column = "\(SchemaSQL.quoted(table)).\(SchemaSQL.quoted(column))"
        return "\(column) IS NOT NULL AND NOT EXISTS "
            + "(SELECT 1 FROM \(name(target)) AS target WHERE target.\(key(target)) = \(column))"
    }
}
