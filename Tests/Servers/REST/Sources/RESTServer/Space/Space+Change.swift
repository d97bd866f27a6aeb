extension Space {
    /// Replaces a row, or creates it if clients assign the IDs.
    func put(_ name: String, _ key: String, _ call: Call) throws(Refusal) -> Answer {
        let row = collections[name]?.live(key)
        // If clients assign the IDs, a PUT that creates a row is no update.
        if settings.updates == .patch, settings.ids == .server || row != nil, !isForNewRow(call) {
            throw Refusal(allowing: "GET", "PATCH", "DELETE")
        }
        let members = try call.members()
        if settings.ids == .server { _ = try self.row(name, key) }
        try checkPreconditions(call, row)
        try checkUnique(name, members, except: key)
        if row != nil { return try change(name, key, to: members) }
        return one(make(name, id: id(key, members), members), status: 201)
    }

    /// Updates the sent members.
    func patch(_ name: String, _ key: String, _ call: Call) throws(Refusal) -> Answer {
        if settings.updates == .put { throw Refusal(allowing: "GET", "PUT", "DELETE") }
        let members = try call.members()
        let row = try row(name, key)
        try checkPreconditions(call, row)
        try checkUnique(name, members, except: key)
        return try change(name, key, to: row.members.merging(members) { _, sent in sent })
    }

    /// Deletes a row.
    func delete(_ name: String, _ key: String, _ call: Call) throws(Refusal) -> Answer {
        try checkPreconditions(call, try row(name, key))
        collections[name]?.delete(key, softly: settings.softDelete, at: tick())
        return Answer(status: 204)
    }

    /// Replaces the members of a row, and answers it.
    private func change(_ name: String, _ key: String, to members: [String: JSON]) throws(Refusal) -> Answer {
        let content = settings.content(of: members)
        guard let row = collections[name]?.change(key, to: content, at: tick()) else {
            throw Refusal(404, "\(name) \(key) does not exist")
        }
        return one(row)
    }

    /// Returns the ID of a path: as in the body, or a number if it looks like one.
    private func id(_ key: String, _ members: [String: JSON]) -> JSON {
        if let id = members["id"], Row.key(of: id) == key { return id }
        return Int(key).flatMap { String($0) == key ? .integer($0) : nil } ?? .string(key)
    }
}
