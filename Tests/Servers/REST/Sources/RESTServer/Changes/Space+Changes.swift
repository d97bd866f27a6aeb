// A stub of an endpoint of WatermelonDB's sync protocol, made from its documentation. Each app writes its own endpoint,
// so there was no real one to compare with.
extension Space {
    /// Handles a call to `sync`.
    func routeChanges(_ call: Call) throws(Refusal) -> Answer {
        guard call.path == ["sync"] else { throw Refusal(404, "there is nothing at \(call.shownPath)") }
        let text = call.query["last_pulled_at"] ?? "null"
        let since = text == "null" ? nil : Int(text)
        if since == nil, text != "null" { throw Refusal(400, "last_pulled_at is no timestamp") }
        switch call.method {
        case "GET":
            guard call.query["schema_version"] != nil, call.query["migration"] != nil else {
                throw Refusal(400, "schema_version and migration are missing")
            }
            return pullChanges(since)
        case "POST": return try pushChanges(try call.members(), since)
        default: throw Refusal(allowing: "GET", "POST")
        }
    }

    // MARK: Pulling

    /// Answers the changes of all tables as one snapshot.
    private func pullChanges(_ since: Int?) -> Answer {
        let isWhole = since == nil || settings.isReplacement
        var changes: [String: JSON] = [:]
        for (name, rows) in collections {
            let rows = rows.all.filter { isWhole ? $0.deleted == nil : $0.updated > since ?? 0 }
            func list(_ isIncluded: (Row) -> Bool) -> JSON {
                .array(rows.filter { $0.deleted == nil && isIncluded($0) }.map(raw))
            }
            changes[name] = [
                "created": list { $0.created > since ?? 0 }, "updated": list { $0.created <= since ?? 0 },
                "deleted": .array(rows.filter { $0.deleted != nil }.map(\.id)),
            ]
        }
        var answer: [String: JSON] = ["changes": .object(changes), "timestamp": .integer(tick())]
        if settings.isReplacement { answer["experimentalStrategy"] = "replacement" }
        return Answer(status: 200, json: .object(answer))
    }

    private func raw(_ row: Row) -> JSON {
        .object(row.members.merging(["id": row.id]) { _, id in id })
    }

    // MARK: Pushing

    /// Applies a push in one transaction.
    private func pushChanges(_ tables: [String: JSON], _ since: Int?) throws(Refusal) -> Answer {
        let before = collections
        do throws(Refusal) {
            for (name, changes) in tables.sorted(by: { $0.key < $1.key }) {
                for list in ["created", "updated"] {
                    for record in changes.members?[list]?.elements ?? [] { try put(name, record, since) }
                }
                for id in changes.members?["deleted"]?.elements ?? [] {
                    guard let key = Row.key(of: id) else { throw Refusal(400, "an id is a text") }
                    guard let row = collections[name]?.live(key) else { continue }
                    try checkChanged(row, since)
                    collections[name]?.delete(key, softly: true, at: tick())
                }
            }
        } catch {
            collections = before
            throw error
        }
        return Answer(status: 200, json: [:])
    }

    /// Creates a record, or replaces all of its columns.
    private func put(_ name: String, _ record: JSON, _ since: Int?) throws(Refusal) {
        guard var members = record.members, let id = members["id"], let key = Row.key(of: id) else {
            throw Refusal(400, "a record has no id")
        }
        for member in settings.required where members[member] ?? .null == .null {
            throw Refusal(422, "\(member) is missing")
        }
        do throws(Refusal) {
            try checkUnique(name, members, except: key)
        } catch {
            throw Refusal(422, error.message)
        }
        for own in ["id", "_status", "_changed"] { members[own] = nil }
        var rows = collections[name, default: Rows()]
        if let row = rows.all.first(where: { Row.key(of: $0.id) == key }) { try checkChanged(row, since) }
        if rows.live(key) != nil {
            _ = rows.change(key, to: members, at: tick())
        } else {
            _ = rows.make(id: id, key: key, members: members, at: tick())
        }
        collections[name] = rows
    }

    private func checkChanged(_ row: Row, _ since: Int?) throws(Refusal) {
        guard row.updated > since ?? 0 else { return }
        throw Refusal(settings.conflictStatus, "\(Row.key(of: row.id) ?? "") has changed")
    }
}
