import GRDB
import SyncCore
import SyncStore

/// What is noted of edited pairs of rows with hidden keys, by either side of them: where such a row goes, or its hidden key is
/// another one by now, what is said of it in `sync_link` goes along. Hidden keys are given anew.
struct JoinEditRekeying {
    private let table: TrackedTable
    /// The registered tables whose rows are sent with the keys of ours.
    private let pointing: [(table: TrackedTable, pairs: TrackedTable.JoinTable)]
    private let tables: [TrackedTable]

    init(_ table: TrackedTable, among tables: [TrackedTable]) {
        self.table = table
        self.tables = tables
        pointing = tables.flatMap { other in
            other.pairs.filter { $0.destination == table.entity.table }.map { (other, $0) }
        }
    }

    /// Moves what is noted of pairs that are sent with rows of the table.
    func owners(to key: String, where condition: (String) -> String) -> [String] {
        move("\"owner\"", of: table.pairs.map(\.name), to: key, condition)
    }

    /// Moves what is noted of pairs that are sent with others.
    func others(to key: String, where condition: (String) -> String) -> [String] {
        move("\"other\"", of: pointing.map(\.pairs.name), to: key, condition)
    }

    /// Forgets pairs with a row that the engine deletes: nobody has it any more.
    func forgotten(_ key: String) -> [String] {
        guard table.key.isHidden else { return [] }
        return pointing.map {
            "DELETE FROM \"sync_link\" WHERE \"link\" = \($0.pairs.name.literal) AND \"other\" = +\(key)"
        }
    }

    private func move(_ column: String, of links: [String], to key: String, _ condition: (String) -> String) -> [String]
    {
        guard table.key.isHidden else { return [] }
        return links.map {
            "UPDATE OR REPLACE \"sync_link\" SET \(column) = \(key) WHERE \"link\" = \($0.literal) AND \(condition(column))"
        }
    }

    /// A pair that only follows a row to another hidden key is none that was edited.
    func isNoRenumbering(of pairs: TrackedTable.JoinTable) -> String {
        let ends =
            [(pairs.table.mine, table)]
            + tables.filter { $0.entity.table == pairs.destination }.map { (pairs.table.other, $0) }
        return ends.filter { $0.1.key.isHidden }.map { column, end in
            """
             AND (OLD.\(column) IS NEW.\(column) OR EXISTS (
              SELECT 1 FROM \(end.table.name.quoted) AS r WHERE r.\(end.table.keyColumn.quoted) = OLD.\(column)))
            """
        }.joined()
    }
}
