extension Space {
    /// Handles a call that configures or inspects the space.
    func control(_ call: Call) throws(Refusal) -> Answer {
        switch (call.method, call.path.first, call.path.count) {
        case ("PUT", "_settings", 1):
            settings = try Settings(JSON(reading: call.body))
            return Answer(status: 204)
        case ("PUT", "_faults", 1):
            faults = try FaultPlan(JSON(reading: call.body))
            return Answer(status: 204)
        case ("GET", "_log", 1):
            return Answer(status: 200, json: .array(log.map(\.document)))
        case ("DELETE", "_log", 1):
            log = []
            return Answer(status: 204)
        case (_, "_rows", _):
            return try controlRows(call)
        default:
            throw Refusal(404, "there is no \(call.method) of \(call.shownPath)")
        }
    }

    /// Handles changes of another client, without faults, token and checks.
    private func controlRows(_ call: Call) throws(Refusal) -> Answer {
        switch (call.method, Target(call.path.dropFirst())) {
        case ("GET", .list(let name)):
            return documents(collections[name]?.all ?? [])
        case ("POST", .list(let name)):
            return documents(try putRows(name, JSON(reading: call.body)))
        case ("DELETE", .row(let name, let key)):
            _ = try row(name, key)
            collections[name]?.delete(key, softly: settings.softDelete, at: tick())
            return Answer(status: 204)
        default:
            throw Refusal(404, "there is no \(call.method) of \(call.shownPath)")
        }
    }

    /// Returns an answer with a list of rows, without an envelope or pages.
    private func documents(_ rows: [Row]) -> Answer {
        Answer(status: 200, json: .array(rows.map { $0.document(settings) }))
    }

    /// Creates or replaces rows. All of them are read before the first one is written.
    private func putRows(_ name: String, _ json: JSON) throws(Refusal) -> [Row] {
        guard let elements = json.elements else { throw Refusal(400, "rows are a list") }
        var documents: [[String: JSON]] = []
        for element in elements {
            guard let members = element.members else { throw Refusal(400, "a row is an object") }
            if let id = members["id"], Row.key(of: id) == nil { throw Refusal(400, "an id is a string or an integer") }
            documents.append(members)
        }
        return documents.map { putRow(name, $0) }
    }

    /// Creates or replaces a row.
    private func putRow(_ name: String, _ members: [String: JSON]) -> Row {
        if let key = Row.key(of: members["id"]), collections[name]?.live(key) != nil,
            let row = collections[name]?.change(key, to: settings.content(of: members), at: tick())
        {
            return row
        }
        return make(name, id: members["id"], members)
    }
}
