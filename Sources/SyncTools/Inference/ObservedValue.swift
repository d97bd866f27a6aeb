import SyncCore

/// The observed values of one JSON key.
final class ObservedValue {
    private(set) var scalars = ObservedScalars()
    /// The number of objects outside of lists.
    private(set) var singles = 0
    /// The number of lists of objects. Such a list may also contain nulls.
    private(set) var objectLists = 0
    private(set) var scalarLists = 0
    private(set) var emptyLists = 0
    /// The number of lists that contain lists or Booleans, only nulls, or mixed elements.
    private(set) var otherLists = 0
    /// The elements of lists of scalars.
    private(set) var elements = ObservedScalars()
    /// The objects outside of lists and in lists of objects.
    private(set) var object: ObservedObject?
    /// The ID of the row with the list, by listed ID.
    private(set) var owners: [PrimaryKeyValue: PrimaryKeyValue] = [:]
    /// Whether two rows list the same ID.
    private(set) var isShared = false
    /// The order of the IDs in lists.
    private(set) var order = ObservedOrder()
    /// The entities that the payload states for the objects, as JSON:API does.
    private(set) var destinations: Set<String> = []
    /// The types of the objects, from a type member beside the key such as `commentable_type`. At most two are kept.
    private var kinds: Set<String> = []
    /// Whether the objects are stored as JSON in any case, and not as rows.
    var isPlain = false
    private let key: String

    /// Creates an observation without values.
    ///
    /// - Parameter key: The key of the values.
    init(key: String) { self.key = key }

    var lists: Int { objectLists + scalarLists + emptyLists + otherLists }
    var objects: Int { singles + objectLists }
    var count: Int { scalars.count + scalars.nulls + singles + lists }

    func observe(_ value: JSONValue, ownedBy owner: String?) {
        switch value {
        case .array(let elements): observe(list: elements, ownedBy: owner)
        case .object:
            singles += 1
            nested.observe(value)
        default: scalars.observe(value)
        }
    }

    private func observe(list: [JSONValue], ownedBy owner: String?) {
        let values = list.filter { $0 != .null }
        var objects = 0
        var scalars = 0
        for value in values {
            switch value {
            case .object: objects += 1
            case .number, .string: scalars += 1
            default: break
            }
        }
        switch values.count {
        case 0 where list.isEmpty: emptyLists += 1
        // A list of only nulls gives no information about links, but is not empty either.
        case 0: otherLists += 1
        case objects:
            objectLists += 1
            var ids: [String] = []
            for value in values {
                nested.observe(value)
                guard let id = nested.id(of: value) else { continue }
                ids.append(id)
                if let owner { own(.text(id), by: .text(owner)) }
            }
            order.observe(ids)
        case scalars:
            scalarLists += 1
            for value in values { elements.observe(value) }
            order.observe(values.lazy.compactMap(\.keyText))
        default: otherLists += 1
        }
    }

    private func own(_ id: PrimaryKeyValue, by owner: PrimaryKeyValue) {
        if let known = owners[id], known != owner { isShared = true }
        owners[id] = owner
    }

    private var nested: ObservedObject {
        if let object { return object }
        let made = ObservedObject(entity: Inflection.entityName(key, isList: true))
        object = made
        return made
    }

    /// Records the type of an object. Objects of several types may share an ID, so objects outside of lists are stored
    /// as JSON if they have several types.
    func record(kind: String) {
        guard kinds.count < 2 else { return }
        kinds.insert(kind)
        if kinds.count > 1, singles > 0 { isPlain = true }
    }

    /// Records an entity that the payload states for the objects.
    func link(to entity: String) { destinations.insert(entity) }

    /// Adds the observations of another place. Nested objects are only counted, because they are merged by entity.
    func merge(_ other: ObservedValue) {
        scalars.merge(other.scalars)
        singles += other.singles
        objectLists += other.objectLists
        scalarLists += other.scalarLists
        emptyLists += other.emptyLists
        otherLists += other.otherLists
        elements.merge(other.elements)
        order.merge(other.order)
        if other.isShared { isShared = true }
        destinations.formUnion(other.destinations)
        for kind in other.kinds { record(kind: kind) }
        if other.isPlain { isPlain = true }
        for (id, owner) in other.owners { own(id, by: owner) }
    }

    /// Adds the observations of another place, with nested objects.
    func add(_ other: ObservedValue) {
        merge(other)
        if let object = other.object { nested.add(object) }
    }
}

extension ObservedObject {
    /// Adds the observations of another place, with nested objects.
    func add(_ other: ObservedObject) {
        merge(other, nested: { $0.add($1) })
    }
}

/// The observed objects of one place of the samples. It is a class because places are nested and change while samples
/// are read.
final class ObservedObject {
    /// The number of objects.
    private(set) var count = 0
    /// The keys, in the order of their first occurrence.
    private(set) var keys: [String] = []
    private(set) var members: [String: ObservedValue] = [:]
    /// The members of objects with an ID, to detect whether two places have the same rows.
    private(set) var things = SeenObjects()
    /// The recognized names of the primary key.
    let names: KeyNames

    /// The key paths of lists inside a sample that is one object without an ID. `shape` detects the format of this
    /// object.
    var listPaths: [[String]] = []
    var shape: PayloadFormatDetector?

    /// The objects under all keys, if the object is used as a dictionary of records.
    private(set) lazy var keyedRecords: ObservedObject? = recordsOfMembers()

    /// Creates an observation without objects.
    ///
    /// - Parameter entity: The entity of the objects, if it is known.
    init(entity: String = "") { names = KeyNames(entity: entity) }

    /// Observes an object.
    ///
    /// - Parameter primaryKey: The JSON keys that identify the object, if they are not in ``names``.
    func observe(_ object: JSONValue, primaryKey: [String]? = nil) {
        guard case .object(let found) = object else { return }
        count += 1
        let id = id(of: object, primaryKey)
        for member in found { observed(member.key).observe(member.value, ownedBy: id) }
        recordKinds(found)
        if let id { things.insert(found, id: id) }
    }

    /// Records the type of the object under a key, if a sibling member states it, such as `commentable_type`.
    private func recordKinds(_ found: [JSONValue.Member]) {
        for case let (key, .string(kind)) in found.lazy.map({ ($0.key, $0.value) }) {
            guard let ending = ["_type", "Type", "-type"].first(where: key.hasSuffix) else { continue }
            members[String(key.dropLast(ending.count))]?.record(kind: kind)
        }
    }

    /// Returns the observations of a key, and adds empty ones for a new key.
    func observed(_ key: String) -> ObservedValue {
        if let known = members[key] { return known }
        let value = ObservedValue(key: key)
        keys.append(key)
        members[key] = value
        return value
    }

    /// Removes the observations of a key, and returns them.
    func removeValue(of key: String) -> ObservedValue? {
        keys.removeAll { $0 == key }
        return members.removeValue(forKey: key)
    }

    /// Counts an object whose members are observed separately.
    func record(_ members: [JSONValue.Member], id: String?) {
        count += 1
        if let id { things.insert(members, id: id) }
    }

    /// Adds the observations of another place. By default, nested objects are only counted.
    ///
    /// - Parameter nested: A closure that adds the second observations of a key to the first ones.
    func merge(
        _ other: ObservedObject, nested: (ObservedValue, ObservedValue) -> Void = { $0.merge($1) }
    ) {
        count += other.count
        listPaths += other.listPaths
        shape = shape ?? other.shape
        for key in other.keys {
            if let value = other.members[key] { nested(observed(key), value) }
        }
        things.merge(other.things)
    }

    /// Returns the ID of an object as text; nil if it has none.
    func id(of object: JSONValue, _ primaryKey: [String]? = nil) -> String? {
        primaryKey.map { object.keyText(of: $0) } ?? names.id(of: object)
    }
}

/// Counts of the kinds of scalars in one place.
struct ObservedScalars {
    private(set) var nulls = 0
    private(set) var booleans = 0
    private(set) var integers = 0
    /// The number of numbers with a decimal point or an exponent.
    private(set) var fractions = 0
    private(set) var strings = 0
    /// A count of fractions with more digits than a double keeps, and of integers beyond 64 bits. It is compared only
    /// with 0.
    private var exact = 0
    /// The number of numbers outside the range of a decimal. `beyondDouble` counts numbers outside the range of a
    /// double.
    private var beyondDecimal = 0
    private var beyondDouble = 0
    private var dates = 0
    private var uuids = 0
    private var urls = 0

    /// The number of values except nulls.
    var count: Int { booleans + numbers + strings }
    var numbers: Int { integers + fractions }

    mutating func observe(_ value: JSONValue) {
        switch value {
        case .null: nulls += 1
        case .bool: booleans += 1
        case .number(let text): observe(number: text)
        case .string(let text): observe(string: text)
        case .array, .object: break
        }
    }

    private mutating func observe(number text: String) {
        let isWhole = !text.contains { $0 == "." || $0 == "e" || $0 == "E" }
        if isWhole { integers += 1 } else { fractions += 1 }
        Array(text.utf8).withUnsafeBufferPointer { bytes in
            let digits = NumberText.parts(bytes)?.digits.count ?? .max
            if digits > 15, !isWhole || NumberText.integer(bytes) == nil { exact += 1 }
            if isWhole, NumberText.integer(bytes) == nil { exact += 1 }
            if isWhole, digits > 15 { longIntegers += 1 }
            var out: [UInt8] = []
            if !DecimalText.append(bytes, to: &out) { beyondDecimal += 1 }
            if NumberText.double(bytes) == nil { beyondDouble += 1 }
        }
    }

    /// The number of integers with more than 15 digits, which a double may not represent exactly.
    private var longIntegers = 0

    private mutating func observe(string text: String) {
        strings += 1
        let value = JSONValue.string(text)
        if Self.isDate(text) { dates += 1 }
        if Coercion.storedValue(value, as: .uuid) != nil { uuids += 1 }
        let scheme = text.prefix(8).lowercased()
        if scheme.hasPrefix("http://") || scheme.hasPrefix("https://"),
            Coercion.storedValue(value, as: .url) != nil
        {
            urls += 1
        }
    }

    /// Returns whether the text is a date that begins like `2024-02-29`. Years and Unix times are not detected, because
    /// they may be any number.
    private static func isDate(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard bytes.count >= 10, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-") else { return false }
        return bytes.withUnsafeBufferPointer { DateParser.milliseconds($0) } != nil
    }

    mutating func merge(_ other: ObservedScalars) {
        nulls += other.nulls
        booleans += other.booleans
        integers += other.integers
        fractions += other.fractions
        strings += other.strings
        exact += other.exact
        longIntegers += other.longIntegers
        beyondDecimal += other.beyondDecimal
        beyondDouble += other.beyondDouble
        dates += other.dates
        uuids += other.uuids
        urls += other.urls
    }

    // MARK: Types

    /// The narrowest type that stores every value; string if there are no values.
    var type: AttributeType {
        if booleans > 0 { return count == booleans ? .boolean : .json }
        if strings == 0 { return numbers == 0 ? .string : numberType }
        // A number beside strings is stored as its shortest text.
        guard numbers == 0 else { return beyondDecimal > 0 ? .json : .string }
        if uuids == strings { return .uuid }
        if dates == strings { return .date }
        return urls == strings ? .url : .string
    }

    private var numberType: AttributeType {
        if fractions == 0, exact == 0 { return .integer }
        if exact + longIntegers > 0, beyondDecimal == 0 { return .decimal }
        return exact + longIntegers == 0 && beyondDouble == 0 ? .double : .json
    }

    /// The type of a key with these values; nil if they cannot be keys. Dates and URLs stay text.
    var keyType: AttributeType? {
        guard count > 0, booleans == 0 else { return nil }
        switch type {
        case .integer, .uuid, .decimal, .double: return type
        case .json: return nil
        default: return .string
        }
    }

    /// Returns whether the values have the type of a key, or can be converted to a key of the type string.
    func fits(key type: AttributeType) -> Bool {
        guard let found = keyType else { return false }
        return found == type || (type == .string && found != .double)
    }
}

/// The order of the rows in lists: whether each list is sorted by primary key. A store returns unordered lists in this
/// order.
struct ObservedOrder {
    private var isOfNumbers = true
    private var isOfTexts = true

    /// Observes one list.
    ///
    /// - Parameter ids: The IDs of the list, as text.
    mutating func observe(_ ids: some Sequence<String>) {
        var previous: String?
        for id in ids {
            guard isOfNumbers || isOfTexts else { return }
            if let previous, !previous.utf8.elementsEqual(id.utf8) { compare(previous, id) }
            previous = id
        }
    }

    private mutating func compare(_ one: String, _ next: String) {
        isOfTexts = isOfTexts && one.utf8.lexicographicallyPrecedes(next.utf8)
        guard isOfNumbers else { return }
        if let first = Int64(one), let second = Int64(next) {
            isOfNumbers = first < second
        } else {
            isOfNumbers = Double(one).flatMap { first in Double(next).map { first < $0 } } ?? false
        }
    }

    mutating func merge(_ other: ObservedOrder) {
        isOfNumbers = isOfNumbers && other.isOfNumbers
        isOfTexts = isOfTexts && other.isOfTexts
    }

    /// Returns whether all lists are sorted by primary keys of a type.
    func isOfKeys(_ type: AttributeType?) -> Bool {
        switch type {
        case .integer, .double, .decimal: isOfNumbers
        default: isOfTexts
        }
    }
}

extension ObservedValue {
    /// Whether all values are null.
    var isNullOnly: Bool { scalars.nulls > 0 && count == scalars.nulls }
}
