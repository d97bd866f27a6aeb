/// Where a record of a payload of values was found that is not simply an element of it.
struct ValuePlace: Sendable {
    var list: Int
    var index: Int
    var name: String?

    /// The same of a record that is laid out, its name after it.
    func place(in tape: JSONTape) -> PayloadMapper.Place {
        .init(token: 0, name: name == nil ? -1 : tape.tokens.count - 1, list: list, index: index)
    }
}

extension JSONReader {
    /// Where the record last read is.
    package var recordPlace: PayloadMapper.Place {
        .init(token: recordToken, name: nameToken, list: walk.list, index: recordIndex)
    }
}

extension ChangePlan {
    /// Where there are lists inside a lone object without a key.
    mutating func noteLists(_ paths: [[String]], _ walk: PlaceWalk) {
        fieldPath = walk.fieldPath
        listPaths = PlaceWalk.fields(paths)
    }

    /// What a reader found of the payload beside its records.
    mutating func note(_ reader: JSONReader, _ options: SyncOptions) {
        guard case .places = reader.form else {
            roots[0].isLoneObject = reader.isLoneObject
            return
        }
        for list in reader.walk.loneLists where roots.indices.contains(list) { roots[list].isLoneObject = true }
        page = reader.walk.page
        // A first page speaks only for what it has, unless more of them are to come.
        if page.isPart { isComplete = false }
    }
}

extension SyncOptions {
    /// Whether the records of a payload are simply the elements of one list.
    var isPlain: Bool { (form == .json || form == .ndjson) && keyedBy == nil && entities.isEmpty }
}
