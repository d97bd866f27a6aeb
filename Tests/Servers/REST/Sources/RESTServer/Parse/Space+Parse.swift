import Foundation

// A stub with the REST dialect of Parse, made from its documentation and compared with no real server. README.md lists
// the differences that are known.
extension Space {
    /// Handles a call to `classes/{class}`, `classes/{class}/{objectId}`, `batch` or `files`.
    func routeParse(_ call: Call) throws(Refusal) -> Answer {
        if call.method == "GET", call.path.count == 3, call.path[0] == "files" { return parseDownload(call.path[2]) }
        try checkParseKeys(call)
        if call.method == "POST", call.path.count == 2, call.path[0] == "files" {
            return try parseUpload(call.path[1], call)
        }
        if call.path == ["batch"], call.method == "POST" { return try parseBatch(call) }
        if call.method == "POST", settings.idempotency != nil, let id = call.header("X-Parse-Request-Id") {
            guard answered[["request", id]] == nil else { throw .parse(159, "Duplicate request") }
            answered[["request", id]] = .null
        }
        let body = call.body.isEmpty ? [:] : try call.members()
        return try parse(call.method, call.path, body, call.query)
    }

    private func checkParseKeys(_ call: Call) throws(Refusal) {
        if let id = settings.applicationID, call.header("X-Parse-Application-Id") != id {
            var refusal = Refusal(403, "unauthorized")
            refusal.body = ["error": "unauthorized"]
            throw refusal
        }
        if let session = settings.session, call.header("X-Parse-Session-Token") != session {
            throw .parse(209, "Invalid session token")
        }
    }

    /// Applies the requests of a batch from the last to the first, because clients must not rely on their order.
    private func parseBatch(_ call: Call) throws(Refusal) -> Answer {
        guard let requests = try call.members()["requests"]?.elements else {
            throw .parse(107, "requests must be an array")
        }
        if requests.count > 50 { throw .parse(107, "a batch has 50 requests at most") }
        var results: [JSON] = []
        for request in requests.reversed() {
            do throws(Refusal) {
                let path = try (request.members?["path"] ?? .null).text(for: "path")
                let method = try (request.members?["method"] ?? .null).text(for: "method")
                // The path begins with the mount path of the server.
                let parts = path.split(separator: "/").map { String($0).removingPercentEncoding ?? String($0) }
                let answer = try parse(
                    method, Array(parts.dropFirst()), request.members?["body"]?.members ?? [:], Query(""))
                results.append(["success": try JSON(reading: answer.body)])
            } catch {
                results.append(["error": error.body ?? ["code": .integer(1), "error": .string(error.message)]])
            }
        }
        return Answer(status: 200, json: .array(results.reversed()))
    }

    private func parse(
        _ method: String, _ path: [String], _ body: [String: JSON], _ query: Query
    ) throws(Refusal) -> Answer {
        guard path.first == "classes", path.count == 2 || path.count == 3 else {
            throw Refusal(404, "there is nothing at this path")
        }
        let name = path[1]
        switch (method, path.count) {
        case ("GET", 2): return try parseList(name, query)
        case ("POST", 2): return try parseCreate(name, body)
        case ("GET", 3): return Answer(status: 200, json: parseDocument(try parseRow(name, path[2]), name))
        case ("PUT", 3): return try parseUpdate(name, path[2], body)
        case ("DELETE", 3):
            _ = try parseRow(name, path[2])
            collections[name]?.delete(path[2], softly: false, at: tick())
            return Answer(status: 200, json: [:])
        default: throw Refusal(405, "the method is not allowed here")
        }
    }

    private func parseRow(_ name: String, _ key: String) throws(Refusal) -> Row {
        guard let row = collections[name]?.live(key) else { throw .parse(101, "Object not found.", status: 404) }
        return row
    }

    // MARK: Changes

    private func parseCreate(_ name: String, _ body: [String: JSON]) throws(Refusal) -> Answer {
        for member in settings.required where body[member] ?? .null == .null {
            throw .parse(142, "\(member) is required")
        }
        var id = body["objectId"]?.text
        if id != nil, settings.ids == .server { throw .parse(104, "objectId is an invalid field name.") }
        if let id, collections[name]?.live(id) != nil { throw .parse(137, "Object exists") }
        // IDs are unique among all classes.
        if id == nil { id = ParseID.text(nextObjectID()) }
        let key = id ?? ""
        let members = try parseMembers([:], body, name, key)
        try checkParseUnique(name, members, except: nil)
        let time = tick()
        var rows = collections[name, default: Rows()]
        let row = rows.make(id: .string(key), key: key, members: members, at: time)
        collections[name] = rows
        var answer = Answer(
            status: 201,
            json: ["objectId": .string(key), "createdAt": .string(Timestamp.text(row.created, coarse: false))])
        answer.headers["Location"] = "/classes/\(name)/\(key)"
        return answer
    }

    private func parseUpdate(_ name: String, _ key: String, _ body: [String: JSON]) throws(Refusal) -> Answer {
        let row = try parseRow(name, key)
        let members = try parseMembers(row.members, body, name, key)
        try checkParseUnique(name, members, except: key)
        let time = tick()
        _ = collections[name]?.change(key, to: members, at: time)
        return Answer(status: 200, json: ["updatedAt": .string(Timestamp.text(time, coarse: false))])
    }

    private func checkParseUnique(_ name: String, _ members: [String: JSON], except key: String?) throws(Refusal) {
        do throws(Refusal) {
            try checkUnique(name, members, except: key)
        } catch {
            throw .parse(137, "A duplicate value for a field with unique values was provided")
        }
    }

    /// Returns members with the sent values and operations applied. If one is rejected, nothing changes.
    private func parseMembers(
        _ members: [String: JSON], _ body: [String: JSON], _ name: String, _ key: String
    ) throws(Refusal) -> [String: JSON] {
        var members = members
        var links: [[String]: [String]] = [:]
        for (field, value) in body.sorted(by: { $0.key < $1.key }) where !ParseID.isOwned(field) {
            switch value.members?["__op"]?.text {
            case nil:
                if value != .null { try checkParseType(name, field, ParseType.name(of: value)) }
                members[field] = value
            case "Delete": members[field] = nil
            default:
                let place = [name, key, field]
                links[place] = try parseLinks(name, field, value, parseRelations[place] ?? [])
            }
        }
        parseRelations.merge(links) { _, new in new }
        return members
    }

    private func parseLinks(
        _ name: String, _ field: String, _ value: JSON, _ known: [String]
    ) throws(Refusal) -> [String] {
        let operation = value.members?["__op"]?.text
        if operation == "Batch" {
            var ids = known
            for inner in value.members?["ops"]?.elements ?? [] { ids = try parseLinks(name, field, inner, ids) }
            return ids
        }
        let objects = value.members?["objects"]?.elements ?? []
        for object in objects {
            try checkParseType(name, field, "Relation \(object.members?["className"]?.text ?? "")")
        }
        let ids = objects.compactMap { $0.members?["objectId"]?.text }
        switch operation {
        case "AddRelation": return known + ids.filter { !known.contains($0) }
        case "RemoveRelation": return known.filter { !ids.contains($0) }
        default: throw .parse(107, "unknown operation")
        }
    }

    /// The first value of a field determines its type.
    private func checkParseType(_ name: String, _ field: String, _ type: String) throws(Refusal) {
        if let known = parseTypes[[name, field]], known != type {
            throw .parse(111, "schema mismatch for \(name).\(field); expected \(known) but got \(type)")
        }
        parseTypes[[name, field]] = type
    }
}

extension Refusal {
    /// Creates a rejection with an error code and a text of Parse.
    static func parse(_ code: Int, _ text: String, status: Int = 400) -> Refusal {
        var refusal = Refusal(status, text)
        refusal.body = ["code": .integer(code), "error": .string(text)]
        return refusal
    }
}
