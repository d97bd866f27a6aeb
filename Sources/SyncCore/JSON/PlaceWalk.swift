/// How far the reading of a document is whose records have several places.
package struct PlaceWalk {
    enum State {
        /// The value at a place is next.
        case value(Int)
        /// A member of the innermost object, or its end.
        case members
        case list(RecordPlaces.Container)
        case ended
    }

    /// An open object around records.
    struct Level {
        /// Where it begins.
        let start: Int
        /// Its members so far.
        var names: [String] = []
    }

    var tracker: PlaceTracker
    var state = State.value(0)
    var levels: [Level] = []
    /// The list that the record last read is in, and the lists that are one object instead.
    package var list = 0
    var loneLists: Set<Int> = []
    /// Whether a place of records was met.
    var hasPlace = false
    var page = PageMark()
    /// What is passed over is read into it.
    var spare = JSONTape()

    init(_ places: RecordPlaces) { tracker = PlaceTracker(places) }

    var places: RecordPlaces { tracker.places }

    /// How the path of the record last read begins.
    var label: String { places.labels.indices.contains(list) ? places.labels[list] : "" }

    /// The keys that lead to the innermost object.
    var path: String {
        levels.isEmpty ? "$" : (["$"] + levels.dropLast().compactMap(\.names.last)).joined(separator: ".")
    }

    /// The key path to the value that is read, from inside the envelope.
    package var fieldPath: [String] {
        let names = levels.compactMap(\.names.last)
        return names.first == "data" ? Array(names.dropFirst()) : names
    }

    /// Goes on after a value.
    mutating func goOn() { state = levels.isEmpty ? .ended : .members }
}
