import GRDB
import SyncCore
import SyncStore

@testable import SyncSQLite

/// The rows and links of a store of a ``DraftModel``, by the identities of the draft. Each row has a unique mark.
struct DraftContents: Equatable {
    struct RowContents: Equatable {
        var entity: Int
        /// The values by attribute, without NULL.
        var values: [Int: DatabaseValue] = [:]
    }

    /// Two linked rows by their marks.
    struct LinkContents: Hashable {
        var first: Int64
        var second: Int64
    }

    var rows: [Int64: RowContents] = [:]
    /// The links by pair, in the order of the first side, then of the second.
    var links: [Int: [LinkContents]] = [:]

    // MARK: Filling

    /// Fills an empty store with random rows and links.
    static func fill(_ draft: DraftModel, _ stack: DataStack, _ random: inout RandomSource) throws {
        try stack.write { db in
            var mark: Int64 = 0
            for entity in stack.model.compiled.entities {
                guard let source = draft.entities.first(where: { $0.name == entity.name }) else { continue }
                for _ in 0..<Int.random(in: 0...4, using: &random) {
                    mark += 1
                    try insert(mark, entity, draft.lineage(source.id), stack.layout, db, &random)
                }
            }
            for link in stack.model.compiled.links { try fill(link, stack.layout, db, &random) }
        }
    }

    private static func insert(
        _ mark: Int64, _ entity: CompiledEntity, _ lineage: [DraftModel.Entity], _ layout: StoreLayout, _ db: Database,
        _ random: inout RandomSource
    ) throws {
        let table = layout[entity.table]
        var values: [String: DatabaseValue] = ["mark": mark.databaseValue, "code": (mark + 100).databaseValue]
        if table.hasEntityColumn { values[TableLayout.entityColumn] = entity.name.databaseValue }
        for attribute in lineage.flatMap(\.attributes) where attribute.isRequired || !random.once(in: 3) {
            let number = Int.random(in: 0...9, using: &random)
            values[attribute.name] =
                switch attribute.type {
                case .integer: number.databaseValue
                case .double: (Double(number) + 0.5).databaseValue
                case .boolean: (number % 2).databaseValue
                case .date: "2024-01-0\(number % 9 + 1) 03:04:05.000".databaseValue
                default: "s\(number)".databaseValue
                }
        }
        let sorted = values.sorted { $0.key < $1.key }
        try db.execute(
            sql: """
                INSERT INTO \(table.name.quoted) (\(sorted.map(\.key.quoted).joined(separator: ", ")))
                VALUES (\(sorted.map { _ in "?" }.joined(separator: ", ")))
                """, arguments: StatementArguments(sorted.map(\.value)))
    }

    private static func fill(
        _ link: CompiledAssociation, _ layout: StoreLayout, _ db: Database, _ random: inout RandomSource
    ) throws {
        func keys(_ side: CompiledAssociation.Role) throws -> [DatabaseValue] {
            let table = layout[side.table]
            let family = SchemaSQL.entityCondition(layout.model.entities[side.entity].family, layout)
            let condition = table.hasEntityColumn ? "WHERE \(family)" : ""
            let keys = try Row.fetchAll(
                db, sql: "SELECT \(table.keyColumn.quoted) FROM \(table.name.quoted) \(condition)")
            return keys.map { $0[0] }.shuffled(using: &random)
        }
        var writer = LinkWriter(link, layout)
        for first in try keys(link.first) {
            for second in try keys(link.second) where random.once(in: 2) {
                _ = try writer.add(MigratedLink(first: first, second: second), db)
            }
        }
    }

    // MARK: Reading

    init(_ draft: DraftModel, _ stack: DataStack) throws {
        self = try stack.read { db in
            var contents = DraftContents()
            for entity in draft.entities { try contents.readRows(of: entity, draft, stack.layout, db) }
            for pair in draft.pairs { try contents.readLinks(of: pair, draft, stack.layout, db) }
            return contents
        }
    }

    init() {}

    private mutating func readRows(
        of entity: DraftModel.Entity, _ draft: DraftModel, _ layout: StoreLayout, _ db: Database
    ) throws {
        let table = layout[try layout.model.entity(named: entity.name).table]
        let condition = table.hasEntityColumn ? "WHERE sync_entity = \(entity.name.literal)" : ""
        for row in try Row.fetchAll(db, sql: "SELECT * FROM \(table.name.quoted) \(condition)") {
            var contents = RowContents(entity: entity.id)
            // A value in a column of another entity is read too, so that the comparison with the expected row fails.
            let own = draft.lineage(entity.id).flatMap(\.attributes)
            for attribute in own { contents.values[attribute.id] = row[attribute.name] as DatabaseValue }
            for attribute in draft.entities.flatMap(\.attributes) where !own.contains(where: { $0.id == attribute.id })
            {
                if row.hasColumn(attribute.name) {
                    contents.values[attribute.id] = row[attribute.name] as DatabaseValue
                }
            }
            contents.values = contents.values.filter { !$0.value.isNull }
            rows[row["mark"]] = contents
        }
    }

    private mutating func readLinks(
        of pair: DraftModel.Pair, _ draft: DraftModel, _ layout: StoreLayout, _ db: Database
    ) throws {
        guard let owner = draft.entity(pair.first.entity),
            let relationship = try layout.model.entity(named: owner.name).relationship(named: pair.first.name)
        else { return }
        let link = layout.model[relationship.link]
        let (first, second) = (layout[link.first.table], layout[link.second.table])
        let from: String
        switch layout[link.id] {
        case .foreignKey(_, let column, let order):
            from = """
                SELECT f.mark, s.mark, 0 AS o1, \(order.map { "f.\($0.quoted)" } ?? "0") AS o2 FROM \(first.name.quoted) f
                JOIN \(second.name.quoted) s ON s.\(second.keyColumn.quoted) = f.\(column.quoted)
                """
        case .joinTable(let name, let firstColumn, let secondColumn, let firstOrder, let secondOrder):
            let orders = [firstOrder, secondOrder].map { $0.map { "j.\($0.quoted)" } ?? "0" }
            from = """
                SELECT f.mark, s.mark, \(orders[0]) AS o1, \(orders[1]) AS o2 FROM \(name.quoted) j
                JOIN \(first.name.quoted) f ON f.\(first.keyColumn.quoted) = j.\(firstColumn.quoted)
                JOIN \(second.name.quoted) s ON s.\(second.keyColumn.quoted) = j.\(secondColumn.quoted)
                """
        }
        let isTurned = relationship.end == .second
        let order = isTurned ? "o2, o1" : "o1, o2"
        links[pair.id] = try Row.fetchAll(db, sql: "\(from) ORDER BY \(order), 1, 2").map { row in
            isTurned ? LinkContents(first: row[1], second: row[0]) : LinkContents(first: row[0], second: row[1])
        }
    }
}
