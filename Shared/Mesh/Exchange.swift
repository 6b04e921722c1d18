/// Puts `value` into `place` and returns what was there.
func exchange<Value>(_ place: inout Value, with value: consuming Value) -> Value {
    let old = place
    place = value
    return old
}
