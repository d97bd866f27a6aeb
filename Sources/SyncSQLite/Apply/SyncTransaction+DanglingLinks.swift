import GRDB
import SyncCore

// Links to rows that are not stored are removed before it is decided what links shall be, so that what the payload says is
// all that holds. To look through all links each time would cost more than most syncs: it is done once one is met, at rows
// the payload speaks of. Where links have been found sound, they are until somebody else writes.
extension SyncTransaction {
    mutating func removeDanglingLinks() throws {
        try forgetReferencesOfNewRows()
        guard try meetsDanglingLinks() else { return }
        for link in model.links { try removeDanglingLinks(link) }
        try noteSound(Set(model.links.map(\.id)))
    }

    /// Those of join tables that were read whole and have pairs of rows that the payload does not speak of.
    mutating func removeDanglingPairs() throws {
        for link in model.links where doubtfulLinks.contains(link.id) && link.storage == .joinTable {
            guard try !isSound(link.id) else { continue }
            if try dangling.exist(link.id) { try removeDanglingLinks(link) }
            try noteSound([link.id])
        }
    }

    /// Rows that lost a link are reported as updated, if they are still there.
    mutating func reportMendedRows() throws {
        for (row, changed) in mended {
            if let found = try identity(of: row) { noteUpdate(found, row, changed.sorted()) }
        }
    }

    private var dangling: DanglingLinks { DanglingLinks(layout: layout, db: db) }

    // MARK: Meeting

    private mutating func meetsDanglingLinks() throws -> Bool {
        // Others wrote to these, and the records that say so may be left out.
        for link in known?.doubtfulLinks ?? [] where try !isSound(link) {
            if try dangling.exist(link) { return true }
            try noteSound([link])
        }
        for tree in model.trees where !trees[tree.id].isEmpty {
            for (index, link) in tree.foreignKeys.enumerated() {
                if try hasDanglingTargets(tree.id, link, index: index) { return true }
            }
        }
        for link in model.links {
            for end in [Link.End.first, .second] where link.storage == .joinTable || end == .second {
                if try meetsMissingRows(link, end) { return true }
            }
        }
        return false
    }

    /// Whether a foreign key of a row that is spoken of, or of one that points to such a row, leads nowhere.
    private mutating func hasDanglingTargets(_ tree: Int, _ link: Int, index: Int) throws -> Bool {
        let presence = trees[model.links[link].second.tree].presence
        var others: [Int] = []
        for (node, target) in trees[tree].storedTargets[index].enumerated() where target != TreeState.noTarget {
            if target == TreeState.otherTarget {
                others.append(node)
            } else if presence[Int(target)] != .stored {
                return true
            }
        }
        if trees[tree].strayLinks.contains(where: { $0.link == link && presence[Int($0.target)] != .stored }) {
            return true
        }
        guard !others.isEmpty || doubtfulLinks.contains(link), try !isSound(link) else { return false }
        guard trees[tree].isScanned else {
            return try dangling.exist(link, of: others.compactMap { rowKey(of: $0, tree) })
        }
        guard try !dangling.exist(link) else { return true }
        try noteSound([link])
        return false
    }

    /// Whether there are links to rows that the payload speaks of and that are not stored.
    private mutating func meetsMissingRows(_ link: Link, _ end: Link.End) throws -> Bool {
        let tree = link.side(end).tree
        let missing = trees[tree].presence.indices.filter { trees[tree].presence[$0] != .stored }
        guard !missing.isEmpty, try !isSound(link.id) else { return false }
        switch try size(of: dangling.table(link.id), limit: missing.count * 6) {
        case .empty: break
        case .small: if try dangling.exist(link.id) { return true }
        case .large: return try dangling.exist(link.id, to: missing.compactMap { rowKey(of: $0, tree) }, at: end)
        }
        try noteSound([link.id])
        return false
    }

    private func rowKey(of node: Int, _ tree: Int) -> RowKey? {
        columns[tree].hasHiddenKey
            ? trees[tree].rowKeys[Int32(truncatingIfNeeded: node)] : trees[tree].rowKey(node, plan.rows[tree], pool)
    }

    // MARK: Removing

    private mutating func removeDanglingLinks(_ link: Link) throws {
        let pairs = try dangling.find(link.id)
        guard !pairs.isEmpty else { return }
        for pair in pairs {
            for (end, key) in [(Link.End.first, pair.first), (.second, pair.second)] {
                guard let key else { continue }
                let row = StoredRow(tree: link.side(end).tree, key: key)
                if columns[row.tree].hasHiddenKey { orphans.insert(row) }
                guard end == .first, link.storage == .foreignKey else { continue }
                try keepValues(of: row)
                mended[row, default: []].formUnion([link.first.relationship?.name].compactMap { $0 })
            }
        }
        try dangling.remove(link.id)
        if link.storage == .foreignKey { forgetTargets(of: pairs.compactMap(\.first), link) }
        let side = link.first.relationship == nil ? link.second : link.first
        let name = side.relationship.map { "\(model.entities[side.entity].name).\($0.name)" } ?? ""
        report.add(
            .linksToMissingRows, side.entity, key: nil, path: "",
            "\(pairs.count) link\(pairs.count == 1 ? "" : "s") of \(name) led to rows that are not stored, and "
                + "\(pairs.count == 1 ? "was" : "were") removed")
    }

    /// What was read of rows before they lost their links.
    private mutating func forgetTargets(of rows: [RowKey], _ link: Link) {
        let tree = link.first.tree
        guard let index = model.trees[tree].foreignKeys.firstIndex(of: link.id) else { return }
        var strays: Set<RowKey> = []
        for row in rows {
            guard let node = node(of: row, tree).map(Int.init) else {
                strays.insert(row)
                continue
            }
            trees[tree].storedTargets[index][node] = TreeState.noTarget
            if !trees[tree].storedOrders[index].isEmpty { trees[tree].storedOrders[index][node] = TreeState.noOrder }
        }
        let known = trees[tree].strays
        trees[tree].strayLinks.removeAll { $0.link == link.id && strays.contains(known[$0.stray].key) }
    }

    /// A row that comes anew does not wait for what one with its key waited for before.
    private mutating func forgetReferencesOfNewRows() throws {
        guard pending.hasStored else { return }
        for tree in model.trees {
            let new = trees[tree.id].presence.indices.filter { trees[tree.id].presence[$0] == .new }
            if new.isEmpty { continue }
            if try TableSize(of: "sync_pending", limit: new.count * 6, in: db) == .large {
                for node in new {
                    try checkCancellation()
                    guard let key = rowKey(of: node, tree.id) else { continue }
                    try dangling.forgetReferences(of: key.databaseValue, in: tree.id)
                }
            } else {
                try dangling.forgetReferences(ofMissingRowsIn: tree.id)
            }
        }
    }

    // MARK: Sound links

    private mutating func isSound(_ link: Int) throws -> Bool { try knownSound().contains(link) }

    private mutating func knownSound() throws -> Set<Int> {
        guard let arrivals else { return [] }
        if let sound { return sound.links }
        let point = try ArrivalWatch.Point(db)
        let links = arrivals.soundLinks(at: point)
        sound = (point, links)
        return links
    }

    private mutating func noteSound(_ links: Set<Int>) throws {
        let known = try knownSound()
        guard let arrivals, let point = sound?.point, !links.isSubset(of: known) else { return }
        sound = (point, known.union(links))
        arrivals.noteSound(links, at: point)
        db.afterNextTransaction(onCommit: { _ in }, onRollback: { _ in arrivals.forgetSoundLinks() })
    }
}
