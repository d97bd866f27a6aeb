/// Two records of a payload that are the same row and say different things of it.
struct Contradiction: Sendable {
    /// What both say of one attribute or single link, as JSON.
    struct Difference: Sendable {
        let name: String
        let value: String
        let earlierValue: String
    }

    let entity: String
    let key: String?
    let path: String
    let earlierPath: String
    var differences: [Difference]

    /// `contradicts [0]: 'name' is "b", was "a"`; without the values if they are not to be shown.
    func message(revealing: Bool) -> String {
        let told = differences.map {
            revealing ? "'\($0.name)' is \($0.value), was \($0.earlierValue)" : "'\($0.name)'"
        }
        let list = ShortList(told).text(between: revealing ? ", " : " and ")
        return "contradicts \(earlierPath): \(list)"
            + (revealing ? "" : differences.count == 1 ? " differs" : " differ")
    }

    func diagnostic(revealing: Bool) -> SyncResult.Diagnostic {
        SyncResult.Diagnostic(
            .contradictingRecord, entity: entity, key: key, path: path, message: message(revealing: revealing))
    }

    func error(revealing: Bool) -> SyncError {
        SyncError(
            .contradictingRecords,
            "the record \(message(revealing: revealing)); of one row all records must say the same",
            entity: entity, path: path)
    }
}
