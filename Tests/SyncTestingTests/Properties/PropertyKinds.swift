/// The features of random models and payloads.
struct PropertyKinds: OptionSet, Sendable {
    let rawValue: Int

    static let manyToMany = PropertyKinds(rawValue: 1)
    static let oneToOne = PropertyKinds(rawValue: 2)
    static let withItself = PropertyKinds(rawValue: 4)
    static let ordered = PropertyKinds(rawValue: 8)
    static let keyless = PropertyKinds(rawValue: 16)
    static let inheritance = PropertyKinds(rawValue: 32)
    static let deleteRules = PropertyKinds(rawValue: 64)
    static let keyTypes = PropertyKinds(rawValue: 128)
    static let predicates = PropertyKinds(rawValue: 256)
    static let parents = PropertyKinds(rawValue: 512)
    static let operations = PropertyKinds(rawValue: 1024)
    static let misfits = PropertyKinds(rawValue: 2048)
    static let requiredValues = PropertyKinds(rawValue: 4096)

    /// Inconsistent payloads. An owner of keyless rows has several records. With restricted operations, a row has
    /// several records: it is new for the first and stored for the next.
    static let inconsistentRecordCount = PropertyKinds(rawValue: 8192)

    /// Payloads that order a relationship and also assert its links from the other end, with several occurrences of
    /// rows.
    static let ordersFromBothSides = PropertyKinds(rawValue: 16384)
    /// A sync for a parent that may delete and not update, so that only new rows are linked.
    static let parentsWithoutUpdate = PropertyKinds(rawValue: 32768)

    /// Payloads that are one object without an array, an envelope or lines, and records of which all or some lack keys.
    static let shapes = PropertyKinds(rawValue: 65536)

    /// Composite keys, some parts of which are keys of other rows.
    static let partedKeys = PropertyKinds(rawValue: 131072)

    /// Lists as keyed objects, by a member of their records.
    static let keyedObjects = PropertyKinds(rawValue: 262144)
    /// Records and references with discriminators, with `inheritance`.
    static let discriminators = PropertyKinds(rawValue: 524288)

    static let all = PropertyKinds(rawValue: 8191 | 65536)
}
