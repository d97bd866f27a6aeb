import Foundation
import GRDB
import Sync

/// The record of which device wrote and deleted which row in a history. Deletions and conflicts are checked against it.
///
/// A row is identified by its names, which are unique. Later names of a row identify the same row as its earlier ones.
actor HistoryLedger {
    /// A row of a device.
    struct Line: Hashable, Sendable {
        let entity: String
        let key: String
        let name: String
        let points: String
        /// The key of the row's project.
        let project: String
        /// The remaining values of the row.
        let text: String
        /// The keys of the rows that a project references one-to-one.
        var badge = ""
        var mate = ""
    }

    nonisolated let clock: HistoryClock
    private var firsts: [String: String] = [:]
    /// The last names of the rows that a device deleted, by device, entity and key. A row that the device inserts with
    /// such a key is the same row.
    private var namesOfDeleted: [String: String] = [:]
    /// The names that rows took from rows that they replaced, and later names of rows that had one of these. The row
    /// with such a name is ambiguous.
    private var taken: Set<String> = []
    private var authors: [String: (device: Int, time: Int64, row: String, place: String)] = [:]
    private var writers: [String: Set<Int>] = [:]
    private(set) var deleted: Set<String> = []
    /// The last reference that each device wrote to each row, and all references that the service had.
    var links = HistoryLinks()
    /// The projects that devices moved a row below, in the order of the writes.
    private var projects: [String: [(device: Int, project: String)]] = [:]
    /// The device that deleted a row itself, unless the row was written again afterwards.
    private var deletedLast: [String: Int] = [:]
    private(set) var problems: [String] = []

    /// - Parameter clock: The time of the edits.
    init(_ clock: HistoryClock = HistoryClock(seed: 0)) { self.clock = clock }

    // MARK: Edits

    /// Returns the columns of the one-to-one references of projects.
    static func oneToOneColumns(_ db: Database) throws -> [String] {
        try db.columns(in: "Project").map(\.name).filter { ["badgeID", "mateID"].contains($0) }
    }

    /// Returns the rows of a device, by entity and key. A row may reference rows that are not stored.
    static func lines(_ db: Database) throws -> [String: Line] {
        let columns = try oneToOneColumns(db)
        let (badge, mate) = (oneToOneKey("badgeID", columns), oneToOneKey("mateID", columns))
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT 'Project', remoteID || '', ifnull(name, ''), '', '', '', \(badge), \(mate) FROM Project
                UNION ALL SELECT 'Tag', remoteID || '', ifnull(name, ''), '', '', '', '', '' FROM Tag
                UNION ALL SELECT 'Task', remoteID || '', ifnull(title, ''), ifnull(points || '', ''),
                  ifnull(\(ReferenceSQL.value(of: "projectID", "Task", "Task")) || '', ''),
                  ifnull(done || '', '') || ' ' || ifnull((
                    SELECT group_concat(tagID || ' ' || ifnull(\(Device.place), ''))
                    FROM (SELECT * FROM Tag_tasks WHERE taskID = remoteID ORDER BY tagID)), '') || ' ' || ifnull((
                    SELECT group_concat(target_key) FROM sync_pending
                    WHERE owner_entity = 'Task' AND owner_key = +Task.remoteID AND relationship = 'tags'), ''),
                  '', ''
                FROM Task
                """)
        var lines: [String: Line] = [:]
        for row in rows {
            let line = Line(
                entity: row[0], key: row[1], name: row[2], points: row[3], project: row[4], text: row[5], badge: row[6],
                mate: row[7])
            lines["\(line.entity) \(line.key)"] = line
        }
        return lines
    }

    private static func oneToOneKey(_ column: String, _ columns: [String]) -> String {
        columns.contains(column) ? "ifnull(\(ReferenceSQL.value(of: column, "Project", "Project")) || '', '')" : "''"
    }

    func note(_ before: [String: Line], _ after: [String: Line], by device: Int) {
        let isProjectDeleted = before.contains { $0.value.entity == "Project" && after[$0.key] == nil }
        // A row may take the name of a row that it replaces.
        for (place, line) in before.sorted(by: { $0.key < $1.key }) where after[place] == nil {
            let row = first(line.name)
            deleted.insert(row)
            namesOfDeleted["\(device) \(place)"] = line.name
            // The pulled row may be the same row, before the device matches them.
            let isTwice = after.values.contains { $0.entity == line.entity && first($0.name) == row }
            if line.entity == "Task", !isProjectDeleted, !isTwice { deletedLast[row] = device }
        }
        for (place, line) in after.sorted(by: { $0.key < $1.key }) where before[place] != line {
            let old = before[place]
            if let old, old.name != line.name {
                if deleted.contains(first(line.name)) || taken.contains(old.name) { taken.insert(line.name) }
                firsts[line.name] = first(old.name)
            }
            if old == nil, let name = namesOfDeleted["\(device) \(place)"], name != line.name {
                firsts[line.name] = first(name)
            }
            if old == nil, line.key.hasPrefix("twin") { firsts[line.name] = place }
            let row = first(line.name)
            if old?.name != line.name { authors[line.name] = (device, clock.now, row, place) }
            if old?.points != line.points, !line.points.isEmpty {
                authors[line.points] = (device, clock.now, row, place)
            }
            writers[row, default: []].insert(device)
            deletedLast[row] = nil
            if old?.project != line.project {
                let project = after["Project \(line.project)"].map { first($0.name) } ?? ""
                projects[row, default: []].append((device, project))
            }
            noteLinks(of: line, replacing: old, in: after, by: device)
        }
    }

    /// The number of another client of the service that is not one of the devices.
    private static let otherClient = -1

    /// Records that another client of the service writes a row.
    func markWritten(_ record: JSONValue) { writers[first(Self.name(record)), default: []].insert(Self.otherClient) }

    /// Records that another client of the service deletes a row.
    func recordRemoved(_ record: JSONValue) { deleted.insert(first(Self.name(record))) }

    /// Returns the first name of a row.
    func first(_ name: String) -> String { firsts[name] ?? name }

    // MARK: Checks

    static func name(_ record: JSONValue) -> String { (record["title"] ?? record["name"] ?? .null).plain }

    /// Checks that a row which is gone from the service was deleted by a device, or by a cascade.
    ///
    /// - Parameters:
    ///   - isAlong: Whether the owner of the row on the service is deleted.
    ///   - isSure: Whether the device knew the last version of the row; otherwise its project may have differed
    ///     locally.
    func judge(deletionOf record: JSONValue, _ entity: String, isAlong: Bool, isSure: Bool) {
        let name = Self.name(record)
        let row = first(name)
        guard !isAlong, !deleted.contains(row), !taken.contains(name) else { return }
        let moves = projects[row] ?? []
        // The deleting device may not know later moves by other devices.
        let last = Dictionary(moves.map { ($0.device, $0.project) }) { $1 }
        guard deleted.isDisjoint(with: isSure ? Array(last.values) : moves.map(\.project)) else { return }
        problems.append("\(entity) \(name) was deleted there, and by none here")
    }

    /// - Parameters:
    ///   - records: The final records of the service, by entity.
    ///   - mayBeTwice: Whether a row may be duplicated, because a device matches it by values that another device
    ///     changed.
    func judge(_ records: [String: [JSONValue]], isRestored: Bool, mayBeTwice: Bool) -> [String] {
        var found: [String] = []
        for (entity, records) in records.sorted(by: { $0.key < $1.key }) {
            let names = records.map { Self.name($0) }.filter { $0 != "null" && !$0.isEmpty }
            let rows = Dictionary(grouping: names, by: first)
            for (_, names) in rows.sorted(by: { $0.key < $1.key }) where names.count > 1 && !mayBeTwice {
                found.append("\(entity) is there twice: \(names.sorted())")
            }
            guard !isRestored else { continue }
            for (row, names) in rows.sorted(by: { $0.key < $1.key }) {
                guard let device = deletedLast[row], writers[row]?.subtracting([device]).isEmpty ?? true else {
                    continue
                }
                found.append(
                    "\(entity) \(names.sorted()) was deleted by device \(device), written by none else, and is there")
            }
        }
        return found
    }

    private func isWriter(_ device: Int, of row: String) -> Bool { writers[row]?.contains(device) ?? false }

    /// An entry of the conflict log.
    struct Ruling: Sendable {
        let domain: String
        let local: String?
        let remote: String?
        let winner: String
        let why: String
    }

    /// - Parameters:
    ///   - isTimed: Whether devices and service share one clock.
    ///   - isOneDomain: Whether several columns are merged as one field, so that an edit of one decides the others too.
    func judge(
        _ rulings: [Ruling], of device: Int, knowsOwn: Bool, isTimed: Bool, isOneDomain: Bool
    ) -> [String] {
        let policies = [
            "clientWins", "serverWins", "manual", "the local edit is later", "the remote edit is later", "resolved",
        ]
        var found: [String] = []
        for ruling in rulings
        where ["title", "name", "points"].contains(ruling.domain) && policies.contains(ruling.why) {
            let (local, remote) = (ruling.local.flatMap { authors[$0] }, ruling.remote.flatMap { authors[$0] })
            let text =
                "\(ruling.domain) \(ruling.local ?? "nil") here, \(ruling.remote ?? "nil") there, \(ruling.winner) wins: \(ruling.why)"
            // A row that comes back may have been pulled as another device restored it, and both copies edited, before
            // they are matched.
            let isOfTwo = local.map { $0.device == device && $0.place != remote?.place } ?? false
            if knowsOwn, !isOfTwo, let remote, remote.device == device,
                !isOneDomain || writers[remote.row]?.subtracting([device]).isEmpty ?? true
            {
                found.append("device \(device) takes its own value for another's: \(text)")
            }
            var isSet =
                ruling.local == nil ? ruling.why != "the local edit is later" : local == nil || local?.device == device
            if isOneDomain { isSet = local.map { isWriter(device, of: $0.row) } ?? true }
            if !isSet { found.append("device \(device) has a value in conflict that was not set there: \(text)") }
            if isTimed, !isOneDomain, ruling.winner == "local", ruling.why == "the local edit is later", let local,
                let remote, remote.device != device,
                remote.time > local.time
            {
                found.append("device \(device) has the earlier edit win: \(text)")
            }
        }
        if knowsOwn { found += judgeOwnDeletions(rulings, of: device) }
        return found
    }

    /// Checks that a row which was deleted on this device, and which no other device wrote, does not conflict with
    /// itself.
    private func judgeOwnDeletions(_ rulings: [Ruling], of device: Int) -> [String] {
        rulings.compactMap { ruling in
            guard ruling.domain.isEmpty, ruling.local == nil, ["editWins", "deleteWins"].contains(ruling.why),
                let record = ruling.remote.flatMap({ try? JSONValue(parsing: $0) }),
                let writers = writers[first(Self.name(record))], writers == [device]
            else { return nil }
            return "device \(device) takes its own edit of \(Self.name(record)) for another's, and \(ruling.why)"
        }
    }
}
