import Foundation
import GRDB
import Sync

/// Who wrote and deleted what in a history, on which device: by it deletions and conflicts are judged.
///
/// A row is known by its names, of which no two are the same: those that it gets later are of the same row as those before.
actor HistoryLedger {
    /// A row of a device.
    struct Line: Hashable, Sendable {
        let entity: String
        let key: String
        let name: String
        let points: String
        /// The key of its project.
        let project: String
        /// All else that it holds.
        let text: String
    }

    private var firsts: [String: String] = [:]
    /// The last names of the rows that a device deleted, by device, entity and key: a row that it inserts with such a key is the same one.
    private var namesOfDeleted: [String: String] = [:]
    /// The names that rows took from rows that they replaced, and later names of rows that had one of these: which row has such a name
    /// is not known.
    private var taken: Set<String> = []
    private var authors: [String: (device: Int, time: Date, row: String, place: String)] = [:]
    private var writers: [String: Set<Int>] = [:]
    private var deleted: Set<String> = []
    /// The projects that a row was moved below by whoever wrote it, the last one at the end.
    private var projects: [String: [String]] = [:]
    /// The rows that were deleted by themselves, and not written again by whoever deleted them.
    private var deletedLast: [String: Int] = [:]
    private(set) var problems: [String] = []

    // MARK: Edits

    /// The rows of a device, by entity and key.
    static func lines(_ db: Database) throws -> [String: Line] {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT 'Project', remoteID || '', ifnull(name, ''), '', '', '' FROM Project
                UNION ALL SELECT 'Tag', remoteID || '', ifnull(name, ''), '', '', '' FROM Tag
                UNION ALL SELECT 'Task', remoteID || '', ifnull(title, ''), ifnull(points || '', ''),
                  ifnull(projectID || '', ''), ifnull(done || '', '') || ' ' || ifnull((
                    SELECT group_concat(tagID || ' ' || ifnull(\(Device.place), ''))
                    FROM (SELECT * FROM Tag_tasks WHERE taskID = remoteID ORDER BY tagID)), '')
                FROM Task
                """)
        var lines: [String: Line] = [:]
        for row in rows {
            let line = Line(entity: row[0], key: row[1], name: row[2], points: row[3], project: row[4], text: row[5])
            lines["\(line.entity) \(line.key)"] = line
        }
        return lines
    }

    func note(_ before: [String: Line], _ after: [String: Line], by device: Int) {
        let isProjectDeleted = before.contains { $0.value.entity == "Project" && after[$0.key] == nil }
        // A row may take the name of one that it replaces.
        for (place, line) in before where after[place] == nil {
            let row = first(line.name)
            deleted.insert(row)
            namesOfDeleted["\(device) \(place)"] = line.name
            // The one that was pulled may be the same, which the device does not know yet.
            let isTwice = after.values.contains { $0.entity == line.entity && first($0.name) == row }
            if line.entity == "Task", !isProjectDeleted, !isTwice { deletedLast[row] = device }
        }
        for (place, line) in after where before[place] != line {
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
            if old?.name != line.name { authors[line.name] = (device, Date(), row, place) }
            if old?.points != line.points, !line.points.isEmpty { authors[line.points] = (device, Date(), row, place) }
            writers[row, default: []].insert(device)
            deletedLast[row] = nil
            if old?.project != line.project {
                projects[row, default: []].append(after["Project \(line.project)"].map { first($0.name) } ?? "")
            }
        }
    }

    /// The number of another client of the service, which is no device.
    private static let otherClient = -1

    /// Another client of the service writes a row there.
    func markWritten(_ record: JSONValue) { writers[first(Self.name(record)), default: []].insert(Self.otherClient) }

    /// Another client of the service deletes a row there.
    func recordRemoved(_ record: JSONValue) { deleted.insert(first(Self.name(record))) }

    /// The first name of a row.
    private func first(_ name: String) -> String { firsts[name] ?? name }

    // MARK: What must hold

    private static func name(_ record: JSONValue) -> String { (record["title"] ?? record["name"] ?? .null).plain }

    /// A row was deleted on the service: by somebody, or along with what it belongs to.
    ///
    /// - Parameters:
    ///   - isAlong: Whether what it belongs to there is gone.
    ///   - isSure: Whether the device knew its last version; else it may have belonged to something else here.
    func judge(deletionOf record: JSONValue, _ entity: String, isAlong: Bool, isSure: Bool) {
        let name = Self.name(record)
        let row = first(name)
        guard !isAlong, !deleted.contains(row), !taken.contains(name) else { return }
        let projects = projects[row] ?? []
        guard deleted.isDisjoint(with: isSure ? Array(projects.suffix(1)) : projects) else { return }
        problems.append("\(entity) \(name) was deleted there, and by none here")
    }

    /// - Parameters:
    ///   - records: What the service has at the end, by entity.
    ///   - mayBeTwice: Whether a row may be made twice: a device looks for it by values that another device changed.
    func judge(_ records: [String: [JSONValue]], isRestored: Bool, mayBeTwice: Bool) -> [String] {
        var found: [String] = []
        for (entity, records) in records.sorted(by: { $0.key < $1.key }) {
            let names = records.map { Self.name($0) }.filter { $0 != "null" && !$0.isEmpty }
            let rows = Dictionary(grouping: names, by: first)
            for (_, names) in rows where names.count > 1 && !mayBeTwice {
                found.append("\(entity) is there twice: \(names.sorted())")
            }
            guard !isRestored else { continue }
            for (row, names) in rows {
                guard let device = deletedLast[row], writers[row]?.subtracting([device]).isEmpty ?? true else {
                    continue
                }
                found.append("\(entity) \(names) was deleted by device \(device), written by none else, and is there")
            }
        }
        return found
    }

    private func isWriter(_ device: Int, of row: String) -> Bool { writers[row]?.contains(device) ?? false }

    /// A line of the log of conflicts.
    struct Ruling: Sendable {
        let domain: String
        let local: String?
        let remote: String?
        let winner: String
        let why: String
    }

    /// - Parameters:
    ///   - isTimed: Whether devices and service have one clock.
    ///   - isOneDomain: Whether rows are one domain: then an edit of one column has the other columns win or lose, too.
    func judge(
        _ rulings: [Ruling], of device: Int, knowsOwn: Bool, isTimed: Bool, isOneDomain: Bool
    ) -> [String] {
        let policies = ["clientWins", "serverWins", "manual", "edited later here", "edited later there", "resolved"]
        var found: [String] = []
        for ruling in rulings
        where ["title", "name", "points"].contains(ruling.domain) && policies.contains(ruling.why) {
            let (local, remote) = (ruling.local.flatMap { authors[$0] }, ruling.remote.flatMap { authors[$0] })
            let text =
                "\(ruling.domain) \(ruling.local ?? "nil") here, \(ruling.remote ?? "nil") there, \(ruling.winner) wins: \(ruling.why)"
            // A row that comes back may have been pulled as another device brought it back, and both edited, before it is known as one.
            let isOfTwo = local.map { $0.device == device && $0.place != remote?.place } ?? false
            if knowsOwn, !isOfTwo, let remote, remote.device == device,
                !isOneDomain || writers[remote.row]?.subtracting([device]).isEmpty ?? true
            {
                found.append("device \(device) takes its own value for another's: \(text)")
            }
            var isSet =
                ruling.local == nil ? ruling.why != "edited later here" : local == nil || local?.device == device
            if isOneDomain { isSet = local.map { isWriter(device, of: $0.row) } ?? true }
            if !isSet { found.append("device \(device) has a value in conflict that was not set there: \(text)") }
            if isTimed, !isOneDomain, ruling.winner == "local", ruling.why == "edited later here", let local,
                let remote, remote.device != device,
                remote.time.timeIntervalSince(local.time) > 0.02
            {
                found.append("device \(device) has the earlier edit win: \(text)")
            }
        }
        if knowsOwn { found += judgeOwnDeletions(rulings, of: device) }
        return found
    }

    /// A row that was deleted here, and that no other device ever wrote, is in no conflict with itself.
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
