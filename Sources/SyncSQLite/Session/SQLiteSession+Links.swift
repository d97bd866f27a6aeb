import GRDB
package import SyncCore
package import SyncStore

// Links as they are stored: as a foreign key column or as pairs in a join table, each with columns for places in ordered
// lists.
extension SQLiteSession {
    package func links(of rows: [RowKey], _ link: Link, from end: Link.End) throws -> [StoredLink] {
        let statement = try statements.statement(linksSQL(link, from: end))
        var found: [StoredLink] = []
        for row in rows {
            statement.bind(row, at: 1)
            while try statement.step() {
                guard let other = statement.key(0) else { continue }
                found.append(
                    StoredLink(
                        row: row, other: other, place: statement.isNull(1) ? nil : statement.integer(1),
                        otherPlace: statement.isNull(2) ? nil : statement.integer(2)))
            }
            statement.reset()
        }
        return found
    }

    private func linksSQL(_ link: Link, from end: Link.End) -> String {
        let names = LinkTable(link, end, layout)
        let select =
            "SELECT \(names.other), \(names.place ?? "NULL"), \(names.otherPlace ?? "NULL") FROM \(names.table)"
        let order = " ORDER BY \(LinkOrderSQL.terms(place: names.place, key: names.other))"
        // The rows that have the column are stored; those it leads to may not be.
        if link.storage == .foreignKey, end == .second { return "\(select) WHERE \(names.mine) = ?\(order)" }
        let target = columns(link.side(end.other).table)
        let isStored =
            "EXISTS (SELECT 1 FROM \(target.table) AS target WHERE target.\(target.keyColumn) = \(names.table).\(names.other))"
        return "\(select) WHERE \(names.mine) = ? AND \(isStored)\(link.storage == .foreignKey ? "" : order)"
    }

    package func stored(_ pairs: [LinkedRows], _ link: Link) throws -> Set<LinkedRows> {
        let names = LinkTable(link, .first, layout)
        let statement = try statements.statement(
            "SELECT 1 FROM \(names.table) WHERE \(names.mine) = ? AND \(names.other) = ?")
        return try Set(
            pairs.filter { pair in
                statement.bind(pair.first, at: 1)
                statement.bind(pair.second, at: 2)
                defer { statement.reset() }
                return try statement.step()
            })
    }

    // MARK: Places

    package func freePlaces(in owners: [RowKey], _ link: Link, _ end: Link.End) throws -> [Int64] {
        guard let query = FreePlaceSQL.query(link.id, end, layout) else { return owners.map { _ in 0 } }
        let statement = try statements.statement(query)
        return try owners.map { owner in
            statement.bind(owner, at: 1)
            defer { statement.reset() }
            return try statement.step() ? statement.integer(0) : 0
        }
    }

    package func keptPlaces(in owners: [RowKey], _ link: Link, _ end: Link.End) throws -> [[Int64]] {
        guard hasReferences, let relationship = link.side(end).relationship else { return owners.map { _ in [] } }
        let statement = try statements.statement(
            """
            SELECT position FROM sync_pending
            WHERE owner_entity IN (\(layout.entityNames(of: [link.side(end).table]))) AND owner_key = ? AND relationship = ?
            """)
        return try owners.map { owner in
            statement.bind(owner, at: 1)
            statement.bind(.text(relationship.name), at: 2)
            defer { statement.reset() }
            var places: [Int64] = []
            while try statement.step() { places.append(statement.integer(0)) }
            return places
        }
    }

    package func setPlaces(_ places: [(pair: LinkedRows, place: Int64)], _ link: Link, _ end: Link.End) throws {
        let names = LinkTable(link, end, layout)
        guard let column = names.place else { return }
        let statement = try statements.statement(
            "UPDATE \(names.table) SET \(column) = ? WHERE \(names.mine) = ? AND \(names.other) = ?")
        for (pair, place) in places {
            statement.bind(place, at: 1)
            statement.bind(pair.row(end), at: 2)
            statement.bind(pair.row(end.other), at: 3)
            try statement.execute()
        }
    }

    // MARK: Linking

    package func setTargets(_ changes: [TargetChange], _ link: Link) throws {
        let names = LinkTable(link, .first, layout)
        let columns = [names.other, names.otherPlace].compactMap { $0 }
        let set = columns.map { "\($0) = ?" }.joined(separator: ", ")
        let statement = try statements.statement("UPDATE \(names.table) SET \(set) WHERE \(names.mine) = ?")
        for change in changes {
            if let target = change.target { statement.bind(target, at: 1) } else { statement.bindNull(at: 1) }
            if columns.count > 1 {
                if let place = change.place { statement.bind(place, at: 2) } else { statement.bindNull(at: 2) }
            }
            statement.bind(change.row, at: columns.count + 1)
            try statement.execute()
        }
    }

    package func insert(_ pairs: [PlacedPair], _ link: Link) throws {
        guard let stored = StoredPairs(link.id, layout, db) else { return }
        let ends = [Link.End.first, .second].filter { stored.order($0) != nil }
        try stored.insertion(of: pairs.count).insert(pairs.count) { index, statement, offset in
            statement.bind(pairs[index].rows.first, at: offset + 1)
            statement.bind(pairs[index].rows.second, at: offset + 2)
            for (place, end) in ends.enumerated() {
                if let number = pairs[index].places[end] {
                    statement.bind(number, at: offset + 3 + place)
                } else {
                    statement.bindNull(at: offset + 3 + place)
                }
            }
        }
    }

    package func insert(_ pairs: [NodePair], _ places: [LinkPlaces], _ link: Link) throws {
        guard let stored = StoredPairs(link.id, layout, db), let tables else { return }
        let ends = [Link.End.first, .second].filter { stored.order($0) != nil }
        let (first, second) = (NodeKeys(tables[link.first.table]), NodeKeys(tables[link.second.table]))
        var counter = StepCounter(steps)
        try stored.insertion(of: pairs.count).insert(pairs.count) { index, statement, offset in
            try counter.advance()
            first.bind(pairs[index].first, to: statement, at: offset + 1)
            second.bind(pairs[index].second, to: statement, at: offset + 2)
            for (place, end) in ends.enumerated() {
                statement.bind(places[index][end] ?? 0, at: offset + 3 + place)
            }
        }
        try counter.finish()
    }

    package func remove(_ pairs: [LinkedRows], _ link: Link) throws {
        guard let removal = try StoredPairs(link.id, layout, db)?.removal() else { return }
        for pair in pairs {
            removal.bind(pair.first, at: 1)
            removal.bind(pair.second, at: 2)
            try removal.execute()
        }
    }
}
