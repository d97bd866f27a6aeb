import Foundation

extension Space {
    /// Answers objects of a class, with the conditions, order, limit and other parameters of queries.
    func parseList(_ name: String, _ query: Query) throws(Refusal) -> Answer {
        var rows = collections[name]?.all ?? []
        if let text = query["where"] {
            guard case .object(let conditions)? = try? JSON(reading: Data(text.utf8)) else {
                throw .parse(107, "where is no object")
            }
            rows = try rows.filterThrowing { row throws(Refusal) in
                try self.holds(conditions, self.parseDocument(row, name), row)
            }
        }
        let order = (query["order"] ?? "").split(separator: ",").map(String.init)
        let documents = rows.map { parseDocument($0, name) }.sorted { left, right in
            for field in order {
                let (key, isDescending) = field.hasPrefix("-") ? (String(field.dropFirst()), true) : (field, false)
                let (one, two) = (ParseType.text(left.members?[key]), ParseType.text(right.members?[key]))
                if one != two { return isDescending ? one > two : one < two }
            }
            return false
        }
        let limit = min(try query.whole("limit", atLeast: 0) ?? 100, settings.pageSize)
        let skip = try query.whole("skip", atLeast: 0) ?? 0
        if skip > 10_000 { throw .parse(155, "skip is too large") }
        let keys = query["keys"].map { Set($0.split(separator: ",").map(String.init) + ParseID.owned) }
        var answer: [String: JSON] = [
            "results": .array(
                documents.dropFirst(skip).prefix(limit).map { document in
                    .object((document.members ?? [:]).filter { keys?.contains($0.key) ?? true })
                })
        ]
        if query["count"] == "1" { answer["count"] = .integer(documents.count) }
        return Answer(status: 200, json: .object(answer))
    }

    /// Returns an object as clients see it: without null fields, and with all relations of its class.
    func parseDocument(_ row: Row, _ name: String) -> JSON {
        var document = row.members.filter { $0.value != .null }.mapValues(parseExpanded)
        for (place, type) in parseTypes where place[0] == name && type.hasPrefix("Relation ") {
            document[place[1]] = ["__type": "Relation", "className": .string(String(type.dropFirst(9)))]
        }
        document["objectId"] = row.id
        document["createdAt"] = .string(Timestamp.text(row.created, coarse: false))
        document["updatedAt"] = .string(Timestamp.text(row.updated, coarse: false))
        return .object(document)
    }

    // MARK: Conditions

    private func holds(_ conditions: [String: JSON], _ document: JSON, _ row: Row) throws(Refusal) -> Bool {
        for (field, condition) in conditions {
            switch field {
            case "$or":
                var isAny = false
                for inner in condition.elements ?? [] {
                    if try holds(inner.members ?? [:], document, row) { isAny = true }
                }
                if !isAny { return false }
            case "$relatedTo":
                let object = condition.members?["object"]?.members ?? [:]
                let place = [
                    object["className"]?.text ?? "", object["objectId"]?.text ?? "",
                    condition.members?["key"]?.text ?? "",
                ]
                if !(parseRelations[place] ?? []).contains(row.id.text ?? "") { return false }
            default:
                if try !holds(condition, document.members?[field]) { return false }
            }
        }
        return true
    }

    private func holds(_ condition: JSON, _ value: JSON?) throws(Refusal) -> Bool {
        guard let operators = condition.members, operators["__type"] == nil else {
            return ParseType.text(condition) == ParseType.text(value)
        }
        for (name, operand) in operators {
            let (one, two) = (ParseType.text(value), ParseType.text(operand))
            switch name {
            case "$gt": if one <= two { return false }
            case "$gte": if one < two { return false }
            case "$in": if !(operand.elements ?? []).map({ ParseType.text($0) }).contains(one) { return false }
            case "$exists": if (value != nil) != (operand == .bool(true)) { return false }
            default: throw .parse(102, "bad constraint: \(name)")
            }
        }
        return true
    }
}

extension Array {
    fileprivate func filterThrowing(
        _ isIncluded: (Element) throws(Refusal) -> Bool
    ) throws(Refusal) -> [Element] {
        var elements: [Element] = []
        for element in self {
            if try isIncluded(element) { elements.append(element) }
        }
        return elements
    }
}
