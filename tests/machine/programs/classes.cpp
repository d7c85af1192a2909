// C++: classes, virtual functions, templates, lambdas, references, operators.
#include <stdio.h>
#include <stdlib.h>

void *operator new(size_t size) { return malloc(size); }
void operator delete(void *block) noexcept { free(block); }
void operator delete(void *block, size_t) noexcept { free(block); }

struct Shape {
    virtual int area() const { return 0; }
    virtual ~Shape() { puts("gone"); }
};
struct Square : Shape {
    explicit Square(int side) : side(side) {}
    int area() const override { return side * side; }
    int side;
};
struct Box : Square {
    Box(int a, int b) : Square(a), other(b) {}
    int area() const override { return side * other; }
    int other;
};

template <typename T, int N> struct Stack {
    T items[N];
    int used = 0;
    Stack &operator<<(T item) {
        items[used++] = item;
        return *this;
    }
    T operator[](int i) const { return items[i]; }
};

template <typename F> int apply(F f, int n) { return f(n); }

struct Guard {
    int &count;
    explicit Guard(int &count) : count(count) { ++count; }
    ~Guard() { count += 10; }
};

static int global_value = apply([](int x) { return x * 3; }, 14);

int main() {
    Shape *shapes[] = {new Square(3), new Box(2, 5)};
    int sum = 0;
    for (const Shape *shape : shapes)
        sum += shape->area();
    for (Shape *shape : shapes)
        delete shape;
    printf("%d %d\n", sum, global_value);
    Stack<double, 4> stack;
    stack << 1.5 << 2.5;
    printf("%g %d\n", stack[1], stack.used);
    int base = 7, count = 0;
    {
        Guard guard(count);
        base += apply([&](int x) { return x + base + count; }, 5);
    }
    printf("%d %d\n", base, count);
    return sum;
}
