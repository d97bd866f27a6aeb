import GRDB
import SyncCore
import SyncStore

/// Under which keys the rows of old tables are stored now.
struct MigratedKeys {
    /// A row of a new table.
    struct Place: Hashable {
        var table: TableID
        var key: DatabaseValue
    }

    /// Old tables all of whose rows have the keys they had, in this new table.
    private let stable: [TableID: TableID]
    private var moved: [TableID: [DatabaseValue: Place]] = [:]
    private var lost: [TableID: Set<DatabaseValue>] = [:]

    init(_ map: MigrationMap) {
        var stable: [TableID: TableID] = [:]
        for tree in map.old.model.trees {
            if let successor = Self.stableSuccessor(of: tree, map) { stable[tree.id] = successor }
        }
        self.stable = stable
    }

    func isStable(_ oldTable: TableID) -> Bool { stable[oldTable] != nil }

    mutating func note(_ key: DatabaseValue, of oldTable: TableID, at place: Place) {
        if stable[oldTable] == nil { moved[oldTable, default: [:]][key] = place }
    }

    mutating func noteLost(_ key: DatabaseValue, of oldTable: TableID) { lost[oldTable, default: []].insert(key) }

    /// Where a row is now; nil if it is lost.
    func place(of key: DatabaseValue, in oldTable: TableID) -> Place? {
        if lost[oldTable]?.contains(key) ?? false { return nil }
        if let table = stable[oldTable] { return Place(table: table, key: key) }
        return moved[oldTable]?[key]
    }

    var hasLosses: Bool { !lost.isEmpty }

    /// The new table, if it has the rows of this old one only, under the same kind of key.
    private static func stableSuccessor(of tree: EntityTree, _ map: MigrationMap) -> TableID? {
        let successors = Set(tree.entities.compactMap { map.successors[$0] }.map { map.new.model.entities[$0].table })
        guard successors.count == 1, let id = successors.first else { return nil }
        let new = map.new.model[id]
        let sources = new.entities.compactMap { map.entities[$0] }.map { map.old.model.entities[$0].table }
        guard sources.allSatisfy({ $0 == tree.id }) else { return nil }
        switch (tree.keySlot, new.keySlot) {
        case (nil, nil): return id
        case (let before?, let after?):
            let isSame = map.slot(after, of: map.new.model.entities[new.root]) == before
            return isSame && tree.attributes[before].type == new.attributes[after].type ? id : nil
        default: return nil
        }
    }
}
