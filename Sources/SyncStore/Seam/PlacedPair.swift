/// A pair of a join table with its places in the lists of either row.
package struct PlacedPair: Sendable {
    package var rows: LinkedRows
    package var places: LinkPlaces
}
