import GRDB
import SyncCore

/// Under which keys the rows of old tables are stored now.
struct MigratedKeys {
    /// A row of a new table.
    struct Place: Hashable {
        var tree: Int
        var key: DatabaseValue
    }

    /// Old trees all of whose rows have the keys they had, in this new tree.
    private let stable: [Int: Int]
    private var moved: [Int: [DatabaseValue: Place]] = [:]
    private var lost: [Int: Set<DatabaseValue>] = [:]

    init(_ map: MigrationMap) {
        var stable: [Int: Int] = [:]
        for tree in map.old.model.trees {
            if let successor = Self.stableSuccessor(of: tree, map) { stable[tree.id] = successor }
        }
        self.stable = stable
    }

    func isStable(_ oldTree: Int) -> Bool { stable[oldTree] != nil }

    mutating func note(_ key: DatabaseValue, of oldTree: Int, at place: Place) {
        if stable[oldTree] == nil { moved[oldTree, default: [:]][key] = place }
    }

    mutating func noteLost(_ key: DatabaseValue, of oldTree: Int) { lost[oldTree, default: []].insert(key) }

    /// Where a row is now; nil if it is lost.
    func place(of key: DatabaseValue, in oldTree: Int) -> Place? {
        if lost[oldTree]?.contains(key) ?? false { return nil }
        if let tree = stable[oldTree] { return Place(tree: tree, key: key) }
        return moved[oldTree]?[key]
    }

    var hasLosses: Bool { !lost.isEmpty }

    /// The new tree, if it has the rows of this old one only, under the same kind of key.
    private static func stableSuccessor(of tree: EntityTree, _ map: MigrationMap) -> Int? {
        let successors = Set(tree.entities.compactMap { map.successors[$0] }.map { map.new.model.entities[$0].tree })
        guard successors.count == 1, let id = successors.first else { return nil }
        let new = map.new.model.trees[id]
        let sources = new.entities.compactMap { map.entities[$0] }.map { map.old.model.entities[$0].tree }
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
