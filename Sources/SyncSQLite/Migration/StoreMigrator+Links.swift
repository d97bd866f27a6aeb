import GRDB
import SyncCore

extension StoreMigrator {
    /// Two linked rows by their old keys, with their places in the order of either end.
    private struct Pair {
        var first: DatabaseValue
        var second: DatabaseValue
        var firstOrder: Int64?
        var secondOrder: Int64?

        var flipped: Pair { Pair(first: second, second: first, firstOrder: secondOrder, secondOrder: firstOrder) }
    }

    mutating func copyLinks() throws {
        for link in map.new.model.links {
            switch link.storage {
            case .foreignKey where keptTrees.contains(link.first.tree): continue
            case .joinTable where keptJoins.contains(link.id): continue
            default: try copy(link)
            }
        }
        let used = Set(map.links.values.joined().map(\.link))
        for link in map.old.model.links where !used.contains(link.id) {
            let pairs = try pairs(of: link)
            lose(path(of: link, map.old), "the relationship is not in the model", pairs.count, "link")
        }
    }

    private mutating func copy(_ link: Link) throws {
        var writer = LinkWriting(link, map.new)
        var lost = 0
        for source in map.links[link.id] ?? [] {
            let before = map.old.model.links[source.link]
            for pair in try pairs(of: before) {
                guard let first = keys.place(of: pair.first, in: before.first.tree),
                    let second = keys.place(of: pair.second, in: before.second.tree)
                else { continue }  // A lost row is counted as such.
                let moved = Pair(
                    first: first.key, second: second.key, firstOrder: pair.firstOrder, secondOrder: pair.secondOrder)
                let turned = source.isFlipped ? moved.flipped : moved
                let ends = source.isFlipped ? (second.tree, first.tree) : (first.tree, second.tree)
                guard ends == (link.first.tree, link.second.tree), writer.take(turned.first, turned.second) else {
                    lost += 1
                    continue
                }
                try writer.write(turned.first, turned.second, turned.firstOrder, turned.secondOrder, db)
            }
        }
        lose(path(of: link, map.new), "rows that can have one link have several", lost, "link")
    }

    private func path(of link: Link, _ layout: StoreLayout) -> String {
        let side = link.first.relationship == nil ? link.second : link.first
        return "entities.\(layout.model.entities[side.entity].name).relationships.\(side.relationship?.name ?? "")"
    }

    private func pairs(of link: Link) throws -> [Pair] {
        switch map.old.links[link.id] {
        case .foreignKey(let table, let column, let order):
            let key = map.old.tables[link.first.tree].keyColumn
            let position = order?.quoted ?? "NULL"
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT \(key.quoted), \(column.quoted), \(position) FROM \(current(table).quoted)
                    WHERE \(column.quoted) IS NOT NULL ORDER BY \(position), \(key.quoted)
                    """)
            return rows.map { Pair(first: $0[0], second: $0[1], firstOrder: nil, secondOrder: $0[2]) }
        case .joinTable(let name, let first, let second, let firstOrder, let secondOrder):
            let orders = [firstOrder, secondOrder].map { $0?.quoted ?? "NULL" }
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT \(first.quoted), \(second.quoted), \(orders.joined(separator: ", "))
                    FROM \(current(name).quoted) ORDER BY \(orders[0]), \(orders[1]), 1, 2
                    """)
            return rows.map { Pair(first: $0[0], second: $0[1], firstOrder: $0[2], secondOrder: $0[3]) }
        }
    }

    /// Links to rows that were allowed to be lost, in tables that were not made anew.
    func clearDanglingLinks() throws {
        guard keys.hasLosses else { return }
        for link in map.new.model.links {
            func missing(_ column: String, _ tree: Int) -> String {
                let target = map.new.tables[tree]
                return "\(column.quoted) NOT IN (SELECT \(target.keyColumn.quoted) FROM \(target.name.quoted))"
            }
            switch map.new.links[link.id] {
            case .foreignKey(let table, let column, let order):
                let cleared = [column, order].compactMap(\.self).map { "\($0.quoted) = NULL" }
                try db.execute(
                    sql: """
                        UPDATE \(table.quoted) SET \(cleared.joined(separator: ", "))
                        WHERE \(missing(column, link.second.tree))
                        """)
            case .joinTable(let name, let first, let second, _, _):
                try db.execute(
                    sql: """
                        DELETE FROM \(name.quoted)
                        WHERE \(missing(first, link.first.tree)) OR \(missing(second, link.second.tree))
                        """)
            }
        }
    }

    // MARK: Remembered references

    mutating func renameRememberedReferences() throws {
        let rows = try Row.fetchAll(
            db, sql: "SELECT rowid, owner_entity, owner_key, relationship, target_entity, target_key FROM sync_pending")
        for row in rows {
            let id: Int64 = row[0]
            guard let renamed = renamed(row) else {
                try db.execute(sql: "DELETE FROM sync_pending WHERE rowid = ?", arguments: [id])
                continue
            }
            try db.execute(
                sql: """
                    UPDATE sync_pending
                    SET owner_entity = ?, owner_key = ?, relationship = ?, target_entity = ?, target_key = ?
                    WHERE rowid = ?
                    """, arguments: StatementArguments(renamed + [id.databaseValue]))
        }
    }

    /// What a reference is called in the new model; nil if it has no place there.
    private func renamed(_ row: Row) -> [DatabaseValue]? {
        guard let owner = map.old.model.entityID(row[1]), let target = map.old.model.entityID(row[4]),
            let newOwner = map.successors[owner], let newTarget = map.successors[target],
            let relationship = map.name(of: row[3], ofOld: owner),
            let place = keys.place(of: row[2], in: map.old.model.entities[owner].tree),
            let (before, after) = keyTypes(target, newTarget),
            let key = MigratedValue.convert(row[5], from: before, to: after)
        else { return nil }
        return [
            map.new.model.entities[newOwner].name.databaseValue, place.key, relationship.databaseValue,
            map.new.model.entities[newTarget].name.databaseValue, key,
        ]
    }

    private func keyTypes(_ old: Int, _ new: Int) -> (AttributeType, AttributeType)? {
        let (before, after) = (map.old.model.entities[old], map.new.model.entities[new])
        guard let oldSlot = before.keySlot, let newSlot = after.keySlot else { return nil }
        return (
            map.old.model.trees[before.tree].attributes[oldSlot].type,
            map.new.model.trees[after.tree].attributes[newSlot].type
        )
    }
}

/// Writes the links of one relationship.
private struct LinkWriting {
    private let link: Link
    private let layout: LinkLayout
    private let keyColumn: String
    private var firsts: Set<DatabaseValue> = []
    private var seconds: Set<DatabaseValue> = []
    private var places: [DatabaseValue: Int64] = [:]
    private var inversePlaces: [DatabaseValue: Int64] = [:]

    init(_ link: Link, _ layout: StoreLayout) {
        self.link = link
        self.layout = layout.links[link.id]
        keyColumn = layout.tables[link.first.tree].keyColumn
    }

    /// Whether both ends can have the link beside those they have.
    mutating func take(_ first: DatabaseValue, _ second: DatabaseValue) -> Bool {
        if !link.first.isToMany, firsts.contains(first) { return false }
        if !link.second.isToMany, seconds.contains(second) { return false }
        firsts.insert(first)
        seconds.insert(second)
        return true
    }

    mutating func write(
        _ first: DatabaseValue, _ second: DatabaseValue, _ firstOrder: Int64?, _ secondOrder: Int64?, _ db: Database
    ) throws {
        switch layout {
        case .foreignKey(let table, let column, let order):
            var set = "\(column.quoted) = ?"
            var arguments = [second]
            if let order {
                set += ", \(order.quoted) = ?"
                arguments.append(Self.next(secondOrder, &inversePlaces[second]).databaseValue)
            }
            try db.execute(
                sql: "UPDATE \(table.quoted) SET \(set) WHERE \(keyColumn.quoted) = ?",
                arguments: StatementArguments(arguments + [first]))
        case .joinTable(let name, let firstColumn, let secondColumn, let firstOrderColumn, let secondOrderColumn):
            var columns = [firstColumn, secondColumn]
            var arguments = [first, second]
            if let firstOrderColumn {
                columns.append(firstOrderColumn)
                arguments.append(Self.next(firstOrder, &places[first]).databaseValue)
            }
            if let secondOrderColumn {
                columns.append(secondOrderColumn)
                arguments.append(Self.next(secondOrder, &inversePlaces[second]).databaseValue)
            }
            let marks = columns.map { _ in "?" }.joined(separator: ", ")
            let names = columns.map(\.quoted).joined(separator: ", ")
            try db.execute(
                sql: "INSERT OR IGNORE INTO \(name.quoted) (\(names)) VALUES (\(marks))",
                arguments: StatementArguments(arguments))
        }
    }

    /// The place a link had, or the next one.
    private static func next(_ order: Int64?, _ last: inout Int64?) -> Int64 {
        let place = order ?? (last ?? -1) + 1
        last = max(place, last ?? place)
        return place
    }
}
