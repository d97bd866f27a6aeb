import GRDB
import SyncCore

// Links to rows that are not stored are removed before it is decided what links shall be, so that what the payload says is
// all that holds. To look through all links each time would cost more than most syncs: it is done where there are few, and
// once one is met at rows the payload speaks of. Where links have been found sound, they are until somebody else writes.
extension SyncTransaction {
    /// Links of which there are no more are looked through whatever the payload speaks of.
    private static let few = 1000

    mutating func removeDanglingLinks() throws {
        try forgetReferencesOfNewRows()
        let known = soundness.weighed.count + soundness.sound.count
        if try meetsDanglingLinks() {
            for link in model.links { try removeDanglingLinks(link) }
            soundness.sound = Set(model.links.map(\.id))
        }
        soundness.weighed.formUnion(soundness.sound)
        if soundness.weighed.count + soundness.sound.count > known { keepSoundness() }
    }

    /// Those of join tables that were read whole and have pairs of rows that the payload does not speak of.
    mutating func removeDanglingPairs() throws {
        for link in model.links where doubtfulLinks.contains(link.id) && link.storage == .joinTable {
            guard !isSound(link.id) else { continue }
            if try dangling.exist(link.id) { try removeDanglingLinks(link) }
            soundness.sound.insert(link.id)
            keepSoundness()
        }
    }

    /// Rows that lost a link are reported as updated, if they are still there.
    mutating func reportMendedRows() throws {
        for row in leaving.rows(where: { !$0.mended.isEmpty }) {
            if let found = try identity(of: row) { noteUpdate(found, row, leaving[row].mended.sorted()) }
        }
    }

    private var dangling: DanglingLinks { DanglingLinks(layout: layout, db: db) }

    // MARK: Meeting

    private mutating func meetsDanglingLinks() throws -> Bool {
        // Others wrote to these, and the records that say so may be left out.
        for link in known?.doubtfulLinks ?? [] where !isSound(link) {
            if try dangling.exist(link) { return true }
            soundness.sound.insert(link)
        }
        for link in model.links where !trees[link.first.tree].isEmpty || !trees[link.second.tree].isEmpty {
            guard soundness.weighed.insert(link.id).inserted else { continue }
            if try TableSize(of: dangling.table(link.id), limit: Self.few, in: db) == .large { continue }
            if try dangling.exist(link.id) { return true }
            soundness.sound.insert(link.id)
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
        for (node, target) in trees[tree].storedTargets[index].enumerated() where target != LinkTargets.none {
            if target == LinkTargets.unmentioned {
                others.append(node)
            } else if presence[Int(target)] != .stored {
                return true
            }
        }
        if trees[tree].strayLinks.contains(where: { $0.link == link && presence[Int($0.target)] != .stored }) {
            return true
        }
        guard !others.isEmpty || doubtfulLinks.contains(link), !isSound(link) else { return false }
        guard trees[tree].isScanned else {
            return try dangling.exist(link, of: others.compactMap { rowKey(of: $0, tree) })
        }
        guard try !dangling.exist(link) else { return true }
        soundness.sound.insert(link)
        return false
    }

    /// Whether there are links to rows that the payload speaks of and that are not stored.
    private mutating func meetsMissingRows(_ link: Link, _ end: Link.End) throws -> Bool {
        let tree = link.side(end).tree
        let presence = trees[tree].presence
        guard presence.contains(where: { $0 != .stored }), !isSound(link.id) else { return false }
        let missing = presence.indices.filter { presence[$0] != .stored }
        switch try size(of: dangling.table(link.id), limit: missing.count * 6) {
        case .empty: break
        case .small: if try dangling.exist(link.id) { return true }
        case .large: return try dangling.exist(link.id, to: missing.compactMap { rowKey(of: $0, tree) }, at: end)
        }
        soundness.sound.insert(link.id)
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
                if columns[row.tree].hasHiddenKey { leaving.noteOrphan(row) }
                guard end == .first, link.storage == .foreignKey else { continue }
                try keepValues(of: row)
                leaving[row].mended.formUnion([link.first.relationship?.name].compactMap { $0 })
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
            trees[tree].storedTargets[index][node] = LinkTargets.none
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
                    try advance()
                    guard let key = rowKey(of: node, tree.id) else { continue }
                    try dangling.forgetReferences(of: key.databaseValue, in: tree.id)
                }
            } else {
                try dangling.forgetReferences(ofMissingRowsIn: tree.id)
            }
        }
    }

    // MARK: Sound links

    private func isSound(_ link: Int) -> Bool { soundness.sound.contains(link) }

    /// Notes what was found in this transaction, which may be undone.
    private func keepSoundness() {
        guard let arrivals, let start = pending.start, !soundness.weighed.isEmpty else { return }
        arrivals.note(soundness, at: start)
        db.afterNextTransaction(onCommit: { _ in }, onRollback: { _ in arrivals.forgetSoundness() })
    }
}
