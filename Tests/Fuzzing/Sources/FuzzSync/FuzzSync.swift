import FuzzSupport
@main
enum FuzzSync { static func main() { fuzz { _, _ in 0 } } }
