// want: race unknown
// A function that nobody has looked at may throw into the handler.
#include <thread>
void may_throw();
int x;
void f() { try { may_throw(); } catch (...) { x++; } }
int main() { std::thread a(f), b(f); a.join(); b.join(); }
