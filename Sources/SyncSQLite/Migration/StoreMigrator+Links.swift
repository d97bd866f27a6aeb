import GRDB
import SyncCore
import SyncStore

// A relationship can come from two old ones, and two from one, each for some of its rows. So old links are read once,
// and what is lost is what no new relationship has taken.
extension StoreMigrator {
    mutating func copyLinks() throws {
        var pairs: [LinkID: [LinkPair]] = [:]
        var kept: Set<LinkID> = []
        for link in map.new.model.links {
            let sources = map.links[link.id] ?? []
            if isKept(link) {
                kept.formUnion(sources.map(\.link))
                continue
            }
            var writer = LinkWriter(link, map.new)
            for source in sources {
                var found = try pairs[source.link] ?? self.pairs(of: map.old.model[source.link])
                try place(&found, from: source, in: link, &writer)
                pairs[source.link] = found
            }
            try writer.complete(db)
        }
        for link in map.old.model.links where !kept.contains(link.id) {
            noteLost(try pairs[link.id] ?? self.pairs(of: link), of: link)
        }
    }

    private func place(
        _ pairs: inout [LinkPair], from source: MigrationMap.LinkSource, in link: Link, _ writer: inout LinkWriter
    ) throws {
        let before = map.old.model[source.link]
        for (index, pair) in pairs.enumerated() {
            guard var first = keys.place(of: pair.first, in: before.first.table),
                var second = keys.place(of: pair.second, in: before.second.table)
            else { continue }
            var moved = pair
            (moved.first, moved.second) = (first.key, second.key)
            if source.isFlipped {
                moved = moved.flipped
                swap(&first, &second)
            }
            if try isRow(first, of: link.first), try isRow(second, of: link.second), try writer.add(moved, db) {
                pairs[index].isPlaced = true
            }
        }
    }

    /// Whether a row is of the entity at this side of a link, and not of another one of its tree.
    private func isRow(_ place: MigratedKeys.Place, of side: Link.Side) throws -> Bool {
        guard place.table == side.table else { return false }
        guard map.new.model[side.table].root != side.entity else { return true }
        let table = map.new[side.table]
        let key = ColumnValue.bound(place.key)
        let condition = SchemaSQL.entityCondition(map.new.model.entities[side.entity].family, map.new)
        let statement = try db.cachedStatement(
            sql: "SELECT 1 FROM \(table.name.quoted) WHERE \(table.keyColumn.quoted) = \(key.sql) AND \(condition)")
        return try Int.fetchOne(statement, arguments: [key.value]) != nil
    }

    /// Links of rows that are lost themselves are not counted again.
    private mutating func noteLost(_ pairs: [LinkPair], of link: Link) {
        let lost = pairs.count { pair in
            !pair.isPlaced && keys.place(of: pair.first, in: link.first.table) != nil
                && keys.place(of: pair.second, in: link.second.table) != nil
        }
        if let successor = map.linkSuccessors[link.id] {
            let place = path(of: map.new.model[successor], map.new)
            lose(place, "the relationship has no place for them", lost, "link")
        } else {
            lose(path(of: link, map.old), "the relationship is not in the model", lost, "link")
        }
    }

    private func path(of link: Link, _ layout: StoreLayout) -> String {
        let side = link.first.relationship == nil ? link.second : link.first
        return "entities.\(layout.model.entities[side.entity].name).relationships.\(side.relationship?.name ?? "")"
    }

    // MARK: Old links

    private func pairs(of link: Link) throws -> [LinkPair] {
        let (table, columns) = linkColumns(of: link)
        let (first, second) = (columns[0], columns[1])
        let orders = "\(columns[2]) NULLS LAST, \(columns[3]) NULLS LAST"
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT \(columns.joined(separator: ", ")) FROM \(current(table).quoted)
                WHERE \(second) IS NOT NULL ORDER BY \(orders), \(first), \(second)
                """)
        var pairs: [LinkPair] = []
        while let row = try rows.next() {
            pairs.append(
                LinkPair(
                    first: try row.wholeValue(at: 0), second: try row.wholeValue(at: 1),
                    firstOrder: try row.decode(atIndex: 2),
                    secondOrder: try row.decode(atIndex: 3)))
        }
        return pairs
    }

    /// The columns of both keys and both places; NULL for a place that the link does not have.
    private func linkColumns(of link: Link) -> (table: String, columns: [String]) {
        switch map.old[link.id] {
        case .foreignKey(let table, let column, let order):
            let key = map.old[link.first.table].keyColumn
            return (table, [key.quoted, column.quoted, "NULL", order?.quoted ?? "NULL"])
        case .joinTable(let name, let first, let second, let firstOrder, let secondOrder):
            return (name, [first, second].map(\.quoted) + [firstOrder, secondOrder].map { $0?.quoted ?? "NULL" })
        }
    }

    /// Links to rows that were allowed to be lost, in tables that were not made anew.
    func clearDanglingLinks() throws {
        guard keys.hasLosses else { return }
        for link in map.new.model.links {
            func missing(_ column: String, _ table: TableID) -> String {
                let target = map.new[table]
                return "\(column.quoted) NOT IN (SELECT \(target.keyColumn.quoted) FROM \(target.name.quoted))"
            }
            switch map.new[link.id] {
            case .foreignKey(let table, let column, let order):
                let cleared = [column, order].compactMap(\.self).map { "\($0.quoted) = NULL" }
                try db.execute(
                    sql: """
                        UPDATE \(table.quoted) SET \(cleared.joined(separator: ", "))
                        WHERE \(missing(column, link.second.table))
                        """)
            case .joinTable(let name, let first, let second, _, _):
                try db.execute(
                    sql: """
                        DELETE FROM \(name.quoted)
                        WHERE \(missing(first, link.first.table)) OR \(missing(second, link.second.table))
                        """)
            }
        }
    }
}
