import GRDB
import SyncCore
import SyncStore

/// Writes the links of one relationship of the new model.
struct LinkWriter {
    private struct Ends: Hashable {
        var first: DatabaseValue
        var second: DatabaseValue
    }

    private let link: Link
    private let layout: LinkLayout
    private let keyColumn: String
    private var written: Set<Ends> = []
    /// The only partner a row can have at this end, where it can have one only.
    private var partnerOfFirst: [DatabaseValue: DatabaseValue] = [:]
    private var partnerOfSecond: [DatabaseValue: DatabaseValue] = [:]
    private var lastPlace: [DatabaseValue: Int64] = [:]
    private var lastInversePlace: [DatabaseValue: Int64] = [:]

    init(_ link: Link, _ layout: StoreLayout) {
        self.link = link
        self.layout = layout[link.id]
        keyColumn = layout[link.first.table].keyColumn
    }

    /// - Returns: Whether both rows can have the link beside those they have.
    mutating func add(_ pair: LinkPair, _ db: Database) throws -> Bool {
        if written.contains(Ends(first: pair.first, second: pair.second)) { return true }
        guard isFree(pair), !link.isSymmetric || isFree(pair.flipped) else { return false }
        reserve(pair)
        if link.isSymmetric { reserve(pair.flipped) }
        try write(pair, db)
        return true
    }

    /// Gives links of a relationship that is its own inverse their other direction.
    mutating func complete(_ db: Database) throws {
        guard link.isSymmetric else { return }
        for ends in written where !written.contains(Ends(first: ends.second, second: ends.first)) {
            try write(LinkPair(first: ends.second, second: ends.first), db)
        }
    }

    private func isFree(_ pair: LinkPair) -> Bool {
        (link.first.isToMany || (partnerOfFirst[pair.first] ?? pair.second) == pair.second)
            && (link.second.isToMany || (partnerOfSecond[pair.second] ?? pair.first) == pair.first)
    }

    private mutating func reserve(_ pair: LinkPair) {
        if !link.first.isToMany { partnerOfFirst[pair.first] = pair.second }
        if !link.second.isToMany { partnerOfSecond[pair.second] = pair.first }
    }

    // MARK: Tables

    private mutating func write(_ pair: LinkPair, _ db: Database) throws {
        written.insert(Ends(first: pair.first, second: pair.second))
        let first = ColumnValue.bound(pair.first)
        let second = ColumnValue.bound(pair.second)
        switch layout {
        case .foreignKey(let table, let column, let order):
            var columns = ["\(column.quoted) = \(second.sql)"]
            var arguments = [second.value]
            if let order {
                columns.append("\(order.quoted) = ?")
                arguments.append(Self.place(pair.secondOrder, &lastInversePlace[pair.second]))
            }
            let statement = try db.cachedStatement(
                sql: "UPDATE \(table.quoted) SET \(columns.joined(separator: ", ")) "
                    + "WHERE \(keyColumn.quoted) = \(first.sql)")
            try statement.execute(arguments: StatementArguments(arguments + [first.value]))
        case .joinTable(let name, let firstColumn, let secondColumn, let firstOrder, let secondOrder):
            var columns = [firstColumn, secondColumn]
            var arguments = [first, second]
            if let firstOrder {
                columns.append(firstOrder)
                arguments.append(("?", Self.place(pair.firstOrder, &lastPlace[pair.first])))
            }
            if let secondOrder {
                columns.append(secondOrder)
                arguments.append(("?", Self.place(pair.secondOrder, &lastInversePlace[pair.second])))
            }
            let names = columns.map(\.quoted).joined(separator: ", ")
            let statement = try db.cachedStatement(
                sql: "INSERT INTO \(name.quoted) (\(names)) VALUES "
                    + "(\(arguments.map(\.sql).joined(separator: ", ")))")
            try statement.execute(arguments: StatementArguments(arguments.map(\.value)))
        }
    }

    /// The place a link had, or the next one.
    private static func place(_ order: Int64?, _ last: inout Int64?) -> DatabaseValue {
        let place = order ?? (last ?? -1) + 1
        last = max(place, last ?? place)
        return place.databaseValue
    }
}
