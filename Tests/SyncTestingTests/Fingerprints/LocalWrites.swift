import GRDB
import SyncCore
import SyncSQLite
import SyncStore
import SyncTesting

/// Makes random statements that change a store behind the library's back.
struct LocalWrites {
    private let layout: StoreLayout

    init(_ model: SyncModel) { layout = StoreLayout(model.compiled) }

    /// A statement, by what a store has; nil if it has nothing to change.
    func statement(_ random: inout SplitMix64, in db: Database) throws -> String? {
        let joins = layout.model.links.filter { $0.storage == .joinTable }.map(\.id)
        if !joins.isEmpty, random.chance(25) { return try joinStatement(random.pick(joins), &random, in: db) }
        let tree = random.pick(layout.model.trees)
        let table = layout[tree.id]
        let key = SchemaSQL.quoted(table.keyColumn)
        let name = SchemaSQL.quoted(table.name)
        guard let row = try pick(key, name, &random, in: db) else { return nil }
        if random.chance(25) { return schemaEdit(tree, row, &random) }
        switch random.below(8) {
        case 0: return "DELETE FROM \(name) WHERE \(key) = \(row)"
        case 1, 2:
            guard let (column, value) = try link(of: tree, &random, in: db) else { return nil }
            return "UPDATE \(name) SET \(column) = \(value) WHERE \(key) = \(row)"
        case 3:
            guard let other = try copyKey(tree, &random) else { return nil }
            return copy(row, as: other, tree, replacing: random.chance(50))
        case 4:
            guard let other = try copyKey(tree, &random) else { return nil }
            return "UPDATE OR IGNORE \(name) SET \(key) = \(other) WHERE \(key) = \(row)"
        default:
            let slots = tree.attributes.indices.filter { $0 != tree.keySlot && !layout.isKey($0, tree) }
            guard !slots.isEmpty else { return nil }
            let slot = random.pick(slots)
            let value = tree.attributes[slot].type == .integer ? "\(random.below(4))" : "'\(random.pick(["a", "b"]))'"
            return "UPDATE \(name) SET \(SchemaSQL.quoted(table.columns[slot])) = \(value) WHERE \(key) = \(row)"
        }
    }

    /// What changes rows beside, or along with, the schema; or by a name of the key that no column has.
    private func schemaEdit(_ tree: EntityTree, _ row: String, _ random: inout SplitMix64) -> String? {
        let table = layout[tree.id]
        let name = SchemaSQL.quoted(table.name)
        let key = SchemaSQL.quoted(table.keyColumn)
        let slots = tree.attributes.indices.filter { $0 != tree.keySlot && !layout.isKey($0, tree) }
        let place = slots.isEmpty ? nil : random.pick(slots)
        let column = place.map { SchemaSQL.quoted(table.columns[$0]) } ?? key
        let type = place.map { SchemaSQL.columnType(tree.attributes[$0].type) } ?? ""
        let edit = "UPDATE \(name) SET \(column) = NULL WHERE \(key) = \(row)"
        let unique = "CREATE UNIQUE INDEX \(random.pick(["mine", "sync_mine"])) ON \(name) (\(column))"
        switch random.below(7) {
        case 0: return "ALTER TABLE \(name) DROP COLUMN \(column); ALTER TABLE \(name) ADD COLUMN \(column) \(type)"
        case 1:
            return "ALTER TABLE \(name) RENAME COLUMN \(column) TO \"away\"; "
                + "UPDATE \(name) SET \"away\" = NULL WHERE \(key) = \(row); "
                + "ALTER TABLE \(name) RENAME COLUMN \"away\" TO \(column)"
        case 2:
            let copied = copy(row, as: tree.keySlot == nil ? "99" : "\(random.below(7))", tree, replacing: true)
            guard let copied, random.chance(80) else { return unique }
            return "\(unique); \(copied); DROP INDEX \(random.pick(["mine", "sync_mine"]))"
        case 3:
            let trigger = random.pick(["mine", "__mine_au", "sync_mine"])
            return "CREATE TRIGGER \(trigger) BEFORE UPDATE ON \(name) BEGIN SELECT RAISE(IGNORE); END; \(edit)"
                + (random.chance(50) ? "; DROP TRIGGER \(trigger)" : "")
        case 4:
            return "UPDATE OR IGNORE \(name) SET \(random.pick(["rowid", "_rowid_", "OID"])) = 5 WHERE \(key) = \(row)"
        case 5 where table.hasEntityColumn:
            let entity = layout.model.entities[random.pick(tree.entities)]
            guard !entity.isAbstract else { return nil }
            return "UPDATE \(name) SET \(TableLayout.entityColumn) = '\(entity.name)' WHERE \(key) = \(row)"
        default: return edit
        }
    }

    private func pick(_ column: String, _ table: String, _ random: inout SplitMix64, in db: Database) throws -> String?
    {
        let all = try String.fetchAll(db, sql: "SELECT quote(\(column)) FROM \(table) ORDER BY 1")
        return all.isEmpty ? nil : random.pick(all)
    }

    /// A foreign key and what it may be.
    private func link(
        of tree: EntityTree, _ random: inout SplitMix64, in db: Database
    ) throws -> (column: String, value: String)? {
        guard !tree.foreignKeys.isEmpty else { return nil }
        let id = random.pick(tree.foreignKeys)
        guard case .foreignKey(_, let column, _) = layout[id] else { return nil }
        let target = layout[layout.model[id].second.table]
        let value = try pick(SchemaSQL.quoted(target.keyColumn), SchemaSQL.quoted(target.name), &random, in: db)
        return (SchemaSQL.quoted(column), random.chance(30) ? "NULL" : value ?? "NULL")
    }

    /// A key another row may have; for integers sometimes a local one.
    private func copyKey(_ tree: EntityTree, _ random: inout SplitMix64) throws -> String? {
        guard let slot = tree.keySlot else { return "\(50 + random.below(5))" }
        switch tree.attributes[slot].type {
        case .integer: return random.chance(25) ? "-9223372036854775\(800 + random.below(5))" : "\(random.below(7))"
        case .string: return "'k\(random.below(7))'"
        default: return nil
        }
    }

    /// A copy of a row under another key. Not where a unique index is in the way of it.
    private func copy(_ row: String, as key: String, _ tree: EntityTree, replacing: Bool) -> String? {
        let table = layout[tree.id]
        guard !table.hasHiddenKey else { return nil }
        var columns = tree.attributes.indices.filter { $0 != tree.keySlot }.map { SchemaSQL.quoted(table.columns[$0]) }
        if table.hasEntityColumn { columns.append(SchemaSQL.quoted(TableLayout.entityColumn)) }
        for id in tree.foreignKeys {
            guard case .foreignKey(_, let column, _) = layout[id] else { continue }
            columns.append(SchemaSQL.quoted(column))
        }
        let list = columns.map { ", \($0)" }.joined()
        let name = SchemaSQL.quoted(table.name)
        return
            "INSERT OR \(replacing ? "REPLACE" : "IGNORE") INTO \(name) (\(SchemaSQL.quoted(table.keyColumn))\(list)) "
            + "SELECT \(key)\(list) FROM \(name) WHERE \(SchemaSQL.quoted(table.keyColumn)) = \(row)"
    }

    private func joinStatement(_ id: LinkID, _ random: inout SplitMix64, in db: Database) throws -> String? {
        guard case .joinTable(let name, let first, let second, _, _) = layout[id] else { return nil }
        let link = layout.model[id]
        let (one, other) = (layout[link.first.table], layout[link.second.table])
        guard let left = try pick(SchemaSQL.quoted(one.keyColumn), SchemaSQL.quoted(one.name), &random, in: db),
            let right = try pick(SchemaSQL.quoted(other.keyColumn), SchemaSQL.quoted(other.name), &random, in: db),
            !link.isSymmetric
        else { return nil }
        let (table, a, b) = (SchemaSQL.quoted(name), SchemaSQL.quoted(first), SchemaSQL.quoted(second))
        return random.chance(50)
            ? "DELETE FROM \(table) WHERE \(a) = \(left)"
            : "INSERT OR IGNORE INTO \(table) (\(a), \(b)) VALUES (\(left), \(right))"
    }
}

extension StoreLayout {
    fileprivate func isKey(_ slot: Int, _ tree: EntityTree) -> Bool {
        tree.entities.contains { model.entities[$0].keySlot == slot }
    }
}
